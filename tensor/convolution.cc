// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/convolution.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/index.h"
#include "strata/tensor/internal/conv_geometry.h"
#include "strata/tensor/internal/gemm.h"
#include "strata/tensor/internal/gemm_problem.h"
#include "strata/tensor/internal/patches.h"
#include "strata/tensor/thread_pool.h"

namespace strata {
namespace {

using internal::ConvAxis;
using internal::ConvGeometry;
using internal::PatchAxis;
using internal::PatchMatrix;
using PatchAxes = std::array<PatchAxis, 3>;

// Rows of patches that are multiplied at once: enough to make up for packing the kernel anew, and, if rows are short,
// as many as stay in the cache of a processor.
constexpr Index min_rows_at_once = 256;
constexpr Index elements_at_once = 1 << 16;

// Rows that one thread copies in some 20 us.
constexpr Index elements_per_copy = 1 << 16;

// [0, rows) cut into parts whose sizes differ by one at most.
struct Parts {
  Index rows;
  Index count;

  [[nodiscard]] Index begin(Index part) const { return part * (rows / count) + std::min(part, rows % count); }
};

Parts parts_of(Index rows, Index columns) {
  const Index at_once = std::max(min_rows_at_once, elements_at_once / columns);
  return {rows, std::max<Index>(1, rows / at_once)};
}

// y rows [ldy apart] = patches matrix [columns, n].
template <class T>
void multiply_patches(const PatchMatrix<T>& patches, Index rows, const T* matrix, Index ld_matrix, Index n, T* y,
                      Index ldy) {
  const Index columns = patches.columns();
  if (patches.is_stored()) {
    internal::gemm(rows, n, columns, patches.images + patches.first_channel, patches.channels, matrix, ld_matrix, y,
                   ldy);
    return;
  }
  const Parts parts = parts_of(rows, columns);
  const auto multiply_part = [&](Index part) {
    const Index begin = parts.begin(part), end = parts.begin(part + 1);
    T* copied = internal::pack_buffer<T>(internal::PackBuffer::patches, (end - begin) * columns);
    internal::copy_patches(patches, begin, end, copied);
    internal::gemm(end - begin, n, columns, copied, columns, matrix, ld_matrix, y + begin * ldy, ldy);
  };
  if (parts.count == 1) return multiply_part(0);  // the product itself may use several threads
  parallel_for(0, parts.count, 1, [&](Index part, Index) { multiply_part(part); });
}

// matrix [columns, n] = patches^T y.
template <class T>
void multiply_transposed(const PatchMatrix<T>& patches, Index rows, const T* y, Index ldy, Index n, T* matrix,
                         Index ld_matrix) {
  const Index columns = patches.columns();
  if (patches.is_stored()) {
    internal::gemm(columns, n, rows, patches.images + patches.first_channel, patches.channels, y, ldy, matrix,
                   ld_matrix, {.transpose_a = true});
    return;
  }
  const Parts parts = parts_of(rows, columns);
  for (Index part = 0; part < parts.count; ++part) {
    const Index begin = parts.begin(part), end = parts.begin(part + 1);
    T* copied = internal::pack_buffer<T>(internal::PackBuffer::patches, (end - begin) * columns);
    const Index grain = std::max<Index>(1, elements_per_copy / columns);
    parallel_for(begin, end, grain, [&](Index first, Index last) {
      internal::copy_patches(patches, first, last, copied + (first - begin) * columns);
    });
    internal::gemm(columns, n, end - begin, copied, columns, y + begin * ldy, ldy, matrix, ld_matrix,
                   {.transpose_a = true, .accumulate = part > 0});
  }
}

// What the windows of y read of x.
PatchAxis reading(const ConvAxis& axis) {
  return {.size = axis.size,
          .taps = axis.taps,
          .windows = axis.windows,
          .window_step = axis.stride,
          .offset = -axis.padding.before,
          .tap_step = axis.kernel_dilation,
          .divisor = axis.input_dilation};
}

// The other way round: which entries of y have read an entry of x, by the taps in reverse order.
PatchAxis read_by(const ConvAxis& axis) {
  return {.size = axis.windows,
          .taps = axis.taps,
          .windows = axis.size,
          .window_step = axis.input_dilation,
          .offset = axis.padding.before - (axis.taps - 1) * axis.kernel_dilation,
          .tap_step = axis.kernel_dilation,
          .divisor = axis.stride};
}

PatchAxes patch_axes(const ConvGeometry& geometry, PatchAxis (*direction)(const ConvAxis&)) {
  PatchAxes axes{};
  std::size_t next = axes.size() - geometry.axes.size();
  for (const ConvAxis& axis : geometry.axes) axes[next++] = direction(axis);
  return axes;
}

template <class T>
PatchMatrix<T> patches_of(const Tensor& images, const PatchAxes& axes, Index groups, Index group) {
  const Index channels = images.size(-1);
  return {images.data<T>().data(), axes, channels, group * (channels / groups), channels / groups};
}

Index rows_of(const Tensor& y) { return y.size() / y.size(-1); }

template <class F>
void for_float(DType dtype, const F& f) {
  if (dtype == DType::float32) return f(float{});
  f(double{});
}

Tensor convolved(const ConvGeometry& geometry, const Tensor& x, const Tensor& kernel) {
  if (x.size() == 0 || kernel.size() == 0) return zeros(geometry.result_shape(), x.dtype());
  Tensor y = Tensor::uninitialized(geometry.result_shape(), x.dtype());
  const Index rows = rows_of(y), width = geometry.out / geometry.groups;
  for_float(x.dtype(), [&]<class T>(T) {
    T* to = y.mutable_data<T>().data();
    const T* matrix = kernel.data<T>().data();
    for (Index group = 0; group < geometry.groups; ++group) {
      multiply_patches<T>(patches_of<T>(x, patch_axes(geometry, reading), geometry.groups, group), rows,
                          matrix + group * width, geometry.out, width, to + group * width, geometry.out);
    }
  });
  return y;
}

Tensor kernel_gradient(const ConvGeometry& geometry, const Tensor& dy, const Tensor& x, const Shape& shape) {
  if (x.size() == 0 || dy.size() == 0) return zeros(shape, dy.dtype());
  Tensor gradient = Tensor::uninitialized(shape, dy.dtype());
  const Index rows = rows_of(dy), width = geometry.out / geometry.groups;
  for_float(dy.dtype(), [&]<class T>(T) {
    T* to = gradient.mutable_data<T>().data();
    const T* from = dy.data<T>().data();
    for (Index group = 0; group < geometry.groups; ++group) {
      multiply_transposed<T>(patches_of<T>(x, patch_axes(geometry, reading), geometry.groups, group), rows,
                             from + group * width, geometry.out, width, to + group * width, geometry.out);
    }
  });
  return gradient;
}

Tensor input_gradient(const ConvGeometry& geometry, const Tensor& dy, const Tensor& kernel, const Shape& shape) {
  if (kernel.size() == 0 || dy.size() == 0) return zeros(shape, dy.dtype());
  Tensor gradient = Tensor::uninitialized(shape, dy.dtype());
  std::vector<int> spatial;
  for (int axis = 0; axis < kernel.rank() - 2; ++axis) spatial.push_back(axis);
  const Tensor transposed = swap_axes(flip(kernel, spatial), -2, -1);  // [*taps, out, in / groups]
  const Index rows = rows_of(gradient), width = geometry.in / geometry.groups;
  for_float(dy.dtype(), [&]<class T>(T) {
    T* to = gradient.mutable_data<T>().data();
    for (Index group = 0; group < geometry.groups; ++group) {
      const PatchMatrix<T> patches = patches_of<T>(dy, patch_axes(geometry, read_by), geometry.groups, group);
      const Index first = patches.first_channel;
      const Tensor matrix = slice_axis(transposed, -2, first, first + patches.group_channels);
      multiply_patches<T>(patches, rows, matrix.data<T>().data(), width, width, to + group * width, geometry.in);
    }
  });
  return gradient;
}

// x continued along an axis by its own entries.
Tensor continue_axis(const Tensor& x, int axis, PadWidth widths, PaddingMode mode) {
  if (widths == PadWidth{}) return x;
  const Index size = x.size(axis);
  const Index period = mode == PaddingMode::circular ? size : std::max<Index>(1, 2 * (size - 1));
  Tensor positions = arange(-widths.before, size + widths.after);
  for (Index& position : positions.mutable_data<Index>()) {
    position = (position % period + period) % period;
    if (position >= size) position = period - position;
  }
  return take(x, positions, axis);
}

Tensor conv_same_type(const Tensor& x, const Tensor& kernel, const ConvWindow& window) {
  ConvGeometry geometry = internal::conv_geometry(x.shape(), kernel.shape(), window);
  const PaddingMode mode = window.padding.mode();
  if (mode == PaddingMode::circular || mode == PaddingMode::reflect) {
    Tensor continued = x;
    int axis = geometry.batch.rank();
    for (const ConvAxis& spatial : geometry.axes) continued = continue_axis(continued, axis++, spatial.padding, mode);
    ConvWindow within = window;
    within.padding = PaddingMode::valid;
    return conv_same_type(continued, kernel, within);
  }
  Tensor y = convolved(geometry, x, kernel);
  if (!x.is_tracked() && !kernel.is_tracked()) return y;
  const Cotangent kept_x = kernel.is_tracked() ? Cotangent(x) : std::nullopt;
  const Cotangent kept_kernel = x.is_tracked() ? Cotangent(kernel) : std::nullopt;
  return differentiable(
      std::move(y), {x, kernel},
      [geometry = std::move(geometry), kept_x, kept_kernel, x_shape = x.shape(),
       kernel_shape = kernel.shape()](const Tensor& dy) {
        return std::vector<Cotangent>{
            kept_kernel ? Cotangent(input_gradient(geometry, dy, *kept_kernel, x_shape)) : std::nullopt,
            kept_x ? Cotangent(kernel_gradient(geometry, dy, *kept_x, kernel_shape)) : std::nullopt};
      });
}

}  // namespace

Tensor conv(const Tensor& x, const Tensor& kernel, const ConvWindow& window) {
  const DType dtype = promote(x.dtype(), kernel.dtype());
  if (!is_floating(dtype)) {
    throw DTypeError("[conv] takes floating numbers, got " + describe(x) + " and " + describe(kernel) +
                     ". Convert with astype.");
  }
  const DType computing = computing_dtype(dtype);
  return conv_same_type(x.astype(computing), kernel.astype(computing), window).astype(dtype);
}

Shape conv_shape(const Shape& x, const Shape& kernel, const ConvWindow& window) {
  return internal::conv_geometry(x, kernel, window).result_shape();
}

}  // namespace strata
