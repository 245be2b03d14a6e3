// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <utility>
#include <variant>
#include <vector>

#include "strata/tensor/internal/recycler.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/tensor.h"

namespace strata {

// What a window meets beyond the edge of x, and how far it goes there. With a window of k positions (k = 1 + (taps - 1)
// dilation of the kernel):
enum class PaddingMode {
  same,        // zeros, so that ceil(size / stride) windows fit; of an odd number of zeros the extra one comes after x
  same_lower,  // the same, the extra one comes before x
  valid,       // nothing: all windows lie within x
  causal,      // k - 1 zeros before x, none after; one spatial axis only
  circular,    // (k - 1) / 2 positions before x and k / 2 after it, which continue x periodically
  reflect,     // as many, which mirror x at its first and last position
};

// Padding of a convolution, as a value: a mode, or numbers of zeros.
class ConvPadding {
 public:
  ConvPadding(PaddingMode mode) : padding_(mode) {}
  ConvPadding(Index width) : padding_(width) {}                               // before and after every spatial axis
  ConvPadding(std::vector<PadWidth> widths) : padding_(std::move(widths)) {}  // one for each spatial axis
  ConvPadding(std::initializer_list<PadWidth> widths) : padding_(std::vector<PadWidth>(widths)) {}

  // Of numbers the mode is `valid`: they are all that is added.
  [[nodiscard]] PaddingMode mode() const noexcept {
    const auto* const mode = std::get_if<PaddingMode>(&padding_);
    return mode != nullptr ? *mode : PaddingMode::valid;
  }

  // The given numbers, none for a mode. Throws ShapeError, starting with [conv], if they are for another number of
  // axes, ValueError if one is negative.
  [[nodiscard]] internal::List<PadWidth> widths(int spatial_axes) const;

  bool operator==(const ConvPadding&) const = default;

 private:
  std::variant<PaddingMode, Index, std::vector<PadWidth>> padding_;
};

// How the window of a convolution moves. Where there is one number for each spatial axis, a single one stands for all
// axes and none for 1.
struct ConvWindow {
  std::vector<Index> strides = {};
  ConvPadding padding = PaddingMode::same;
  std::vector<Index> input_dilation = {};   // distances of neighbouring entries of x, with zeros between them
  std::vector<Index> kernel_dilation = {};  // distances of neighbouring taps of the kernel
  Index feature_groups = 1;                 // channels fall into so many groups that do not see each other
  bool operator==(const ConvWindow&) const = default;
};

// The convolution of machine learning, a cross-correlation: the kernel is not flipped. x is [*batch, *space, in] with 1
// to 3 spatial axes, the kernel [*taps, in / feature_groups, out], the result [*batch, *windows, out]:
//
//   y[.., p, o] = sum over t, i of x[.., p stride + t dilation - padding, i] kernel[t, i, o]
//
// Element types are promoted; two-byte floats are multiplied and summed in float32 and rounded once. Differentiable.
// The bits do not depend on the number of threads. Windows are copied, some at a time, and multiplied by the kernel as
// a matrix; a kernel of one tap needs no copies. The gradient of x costs as much as y times the product of the strides.
//
// Throws ShapeError, naming the shapes, if they do not fit or a window is larger than the padded x; ValueError if a
// number of the window is out of range; DTypeError if the promoted type is not floating.
[[nodiscard]] Tensor conv(const Tensor& x, const Tensor& kernel, const ConvWindow& window = {});

// The shape of that result. Throws what conv throws.
[[nodiscard]] Shape conv_shape(const Shape& x, const Shape& kernel, const ConvWindow& window = {});

}  // namespace strata
