// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "strata/tensor/random.h"
#include "strata/tensor/tensor.h"

namespace strata::nn {

// How the initial value of a parameter is made, as a value: it can be kept in a module or an options struct, compared
// and printed.
//
//   nn::Initializer init = nn::initializers::he_normal();
//   Tensor kernel = init(rngs.draw("params"), Shape{128, 64});
//
// The numbers are those of flax.nnx.initializers for the same key, as near as random.h says of those of JAX.
// Of other floating types they are drawn in float32 and converted.
class Initializer {
 public:
  using Function = std::function<Tensor(RandomKey key, const Shape& shape, DType dtype)>;

  // One of your own. `text` is printed and compared: give every argument that the result depends on. Throws ValueError
  // if the function is empty.
  Initializer(std::string text, Function function);

  // A tensor of that shape and type. Throws ShapeError if the shape does not suit or the function gives another one,
  // DTypeError the same for the type.
  [[nodiscard]] Tensor operator()(RandomKey key, const Shape& shape, DType dtype = DType::float32) const;

  // True if the texts are equal.
  bool operator==(const Initializer& other) const { return text_ == other.text_; }

  friend const std::string& to_string(const Initializer& initializer) { return initializer.text_; }
  friend std::ostream& operator<<(std::ostream& out, const Initializer& initializer);

 private:
  std::string text_;
  Function function_;
};

}  // namespace strata::nn

namespace strata::nn::initializers {

// Which axes of a kernel count inputs and outputs; negative axes count from the end. Axes named nowhere, those of a
// convolution's window, multiply both counts; batch axes, those of independent copies, neither.
struct FanAxes {
  std::vector<int> in{-2};
  std::vector<int> out{-1};
  std::vector<int> batch{};
};

// The number n by which the variance of variance_scaling is divided.
enum class FanMode {
  fan_in,       // inputs of an output
  fan_out,      // outputs of an input
  fan_avg,      // the mean of both
  fan_geo_avg,  // the root of their product
};

enum class Distribution {
  truncated_normal,  // cut at two standard deviations, of the stated variance after the cut
  normal,
  uniform,  // between -sqrt(3 variance) and sqrt(3 variance)
};

// Of mean 0 and variance scale / n. Throws ValueError if scale is negative or not finite. The initializer throws
// ShapeError if the kernel lacks one of the axes: by default it needs two.
[[nodiscard]] Initializer variance_scaling(double scale, FanMode mode, Distribution distribution, FanAxes axes = {});

// variance_scaling with scale 1 and fan_in. LeCun et al., "Efficient BackProp" (1998).
[[nodiscard]] Initializer lecun_normal(FanAxes axes = {});   // truncated_normal
[[nodiscard]] Initializer lecun_uniform(FanAxes axes = {});  // uniform

// variance_scaling with scale 1 and fan_avg; also called Xavier. Glorot and Bengio, "Understanding the difficulty of
// training deep feedforward neural networks" (2010).
[[nodiscard]] Initializer glorot_normal(FanAxes axes = {});   // truncated_normal
[[nodiscard]] Initializer glorot_uniform(FanAxes axes = {});  // uniform

// variance_scaling with scale 2 and fan_in; also called Kaiming. He et al., "Delving deep into rectifiers" (2015).
[[nodiscard]] Initializer he_normal(FanAxes axes = {});   // truncated_normal
[[nodiscard]] Initializer he_uniform(FanAxes axes = {});  // uniform

// Of mean 0 and that standard deviation.
[[nodiscard]] Initializer normal(double stddev = 0.01);

// Uniform in [0, scale): not symmetric.
[[nodiscard]] Initializer uniform(double scale = 0.01);

// Normal numbers with that standard deviation, cut at two of them: what is left has a standard deviation of 0.88
// stddev.
[[nodiscard]] Initializer truncated_normal(double stddev = 0.01);

// `scale` times a uniformly distributed matrix [all other axes, column_axis] with orthonormal rows or columns,
// whichever are fewer. The initializer throws ShapeError if the shape has less than two axes. Saxe et al., "Exact
// solutions to the nonlinear dynamics of learning in deep linear neural networks" (2014).
[[nodiscard]] Initializer orthogonal(double scale = 1, int column_axis = -1);

// For kernels [*window, in, out] of 1 to 3 window axes: orthogonal(scale, column_axis) in the middle of the window (the
// earlier of two middles), zero elsewhere. The initializer throws ShapeError if the rank does not suit or in > out.
// Xiao et al., "Dynamical isometry and a mean field theory of CNNs" (2018).
[[nodiscard]] Initializer delta_orthogonal(double scale = 1, int column_axis = -1);

// Of any element type.
[[nodiscard]] Initializer zeros();
[[nodiscard]] Initializer ones();
[[nodiscard]] Initializer constant(double value);

}  // namespace strata::nn::initializers
