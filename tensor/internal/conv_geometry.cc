// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/conv_geometry.h"

#include <algorithm>
#include <string>

#include "strata/tensor/error.h"

namespace strata {

internal::List<PadWidth> ConvPadding::widths(int spatial_axes) const {
  if (std::holds_alternative<PaddingMode>(padding_)) return {};
  const auto count = static_cast<std::size_t>(spatial_axes);
  internal::List<PadWidth> widths;
  if (const auto* const of_all = std::get_if<Index>(&padding_)) {
    widths.assign(count, PadWidth{*of_all, *of_all});
  } else {
    const auto& of_each = std::get<std::vector<PadWidth>>(padding_);
    widths.assign(of_each.begin(), of_each.end());
  }
  if (widths.size() != count) {
    throw ShapeError("[conv] there are " + std::to_string(widths.size()) + " padding widths for " +
                     std::to_string(spatial_axes) + " spatial axes. Give one for each.");
  }
  for (const PadWidth& width : widths) {
    if (width.before >= 0 && width.after >= 0) continue;
    throw ValueError("[conv] a padding width is negative: " + std::to_string(width.before) + " before, " +
                     std::to_string(width.after) + " after. Cut x with slice_axis.");
  }
  return widths;
}

namespace internal {
namespace {

constexpr int max_spatial_axes = 3;

// a + b and a * b for numbers that are not negative.
Index plus(Index a, Index b) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw ShapeError("[conv] the padded x is too large to be counted.");
  return sum;
}
Index times(Index a, Index b) {
  Index product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw ShapeError("[conv] the dilated x or kernel is too large.");
  return product;
}

// The size of `count` entries that lie `dilation` apart.
Index extent(Index count, Index dilation) { return count == 0 ? 0 : plus(times(count - 1, dilation), 1); }

List<Index> per_axis(const std::vector<Index>& values, int spatial_axes, const char* what) {
  const auto count = static_cast<std::size_t>(spatial_axes);
  if (values.size() > 1 && values.size() != count) {
    throw ShapeError("[conv] there are " + std::to_string(values.size()) + " " + what + " for " +
                     std::to_string(spatial_axes) + " spatial axes. Give one for each, or one for all.");
  }
  for (const Index value : values) {
    if (value >= 1) continue;
    throw ValueError("[conv] " + std::string(what) + " must be positive, got " + std::to_string(value) + ".");
  }
  if (values.size() == count) return List<Index>(values.begin(), values.end());
  return List<Index>(count, values.empty() ? 1 : values.front());
}

// What a mode adds to an axis, whose windows it may choose.
PadWidth mode_padding(PaddingMode mode, const ConvAxis& axis, Index window) {
  const Index around = window - 1;
  switch (mode) {
    case PaddingMode::same:
    case PaddingMode::same_lower: {
      const Index size = extent(axis.size, axis.input_dilation);
      const Index reached = size == 0 ? 0 : plus((size - 1) / axis.stride * axis.stride, window);
      const Index total = std::max<Index>(0, reached - size);
      const Index less = total / 2;
      return mode == PaddingMode::same ? PadWidth{less, total - less} : PadWidth{total - less, less};
    }
    case PaddingMode::causal:
      return {around, 0};
    case PaddingMode::circular:
    case PaddingMode::reflect:
      return {around / 2, window / 2};
    case PaddingMode::valid:
      break;
  }
  return {0, 0};
}

// True if what stands beyond the edge is x again, rather than zeros.
bool continues(PaddingMode mode) { return mode == PaddingMode::circular || mode == PaddingMode::reflect; }

void check_continuable(PaddingMode mode, const ConvAxis& axis, const Shape& x) {
  if (!continues(mode)) return;
  if (axis.size > 0 || axis.padding == PadWidth{}) return;
  throw ShapeError("[conv] there is nothing to continue x of shape " + to_string(x) + " with.");
}

// Where a window may lie. Entries that continue x lie as far apart as those of x; zeros lie beside each other.
Index padded_size(PaddingMode mode, const ConvAxis& axis) {
  const auto with_padding = [&](Index size) { return plus(plus(size, axis.padding.before), axis.padding.after); };
  return continues(mode) ? extent(with_padding(axis.size), axis.input_dilation)
                         : with_padding(extent(axis.size, axis.input_dilation));
}

void count_windows(ConvAxis& axis, Index window, Index padded, const Shape& x, const Shape& kernel) {
  if (padded >= window) {
    axis.windows = (padded - window) / axis.stride + 1;
    return;
  }
  axis.windows = 0;
  if (axis.size == 0 && axis.padding == PadWidth{}) return;
  throw ShapeError("[conv] a window of " + std::to_string(window) + " positions is larger than the " +
                   std::to_string(padded) + " of the padded x: x " + to_string(x) + ", kernel " + to_string(kernel) +
                   ". Pad more.");
}

void check_channels(const Shape& x, const Shape& kernel, Index groups) {
  const auto shapes = [&] { return ": x " + to_string(x) + ", kernel " + to_string(kernel); };
  const Index in = x[-1];
  if (in % groups != 0 || kernel[-1] % groups != 0) {
    throw ShapeError("[conv] channels do not fall into " + std::to_string(groups) + " groups of equal size" + shapes() +
                     ".");
  }
  if (kernel[-2] != in / groups) {
    throw ShapeError("[conv] the channels of x and kernel do not fit" + shapes() +
                     ". The kernel is [*taps, in / groups" + ", out]; here its last axis but one must be " +
                     std::to_string(in / groups) + ".");
  }
}

}  // namespace

Shape ConvGeometry::result_shape() const {
  List<Index> sizes(batch.begin(), batch.end());
  for (const ConvAxis& axis : axes) sizes.push_back(axis.windows);
  sizes.push_back(out);
  return Shape(sizes);
}

void check_window(const ConvWindow& window, int spatial_axes) {
  if (window.padding.mode() == PaddingMode::causal && spatial_axes != 1) {
    throw ValueError("[conv] causal padding is for one spatial axis, there are " + std::to_string(spatial_axes) + ".");
  }
  static_cast<void>(window.padding.widths(spatial_axes));
  static_cast<void>(per_axis(window.strides, spatial_axes, "strides"));
  static_cast<void>(per_axis(window.input_dilation, spatial_axes, "input dilations"));
  static_cast<void>(per_axis(window.kernel_dilation, spatial_axes, "kernel dilations"));
  if (window.feature_groups >= 1) return;
  throw ValueError("[conv] feature groups must be positive, got " + std::to_string(window.feature_groups) + ".");
}

ConvGeometry conv_geometry(const Shape& x, const Shape& kernel, const ConvWindow& window) {
  const int spatial_axes = kernel.rank() - 2;
  if (spatial_axes < 1 || spatial_axes > max_spatial_axes) {
    throw ShapeError("[conv] the kernel has shape " + to_string(kernel) +
                     ", expected [*taps, in / groups, out] with 1 to 3 spatial axes.");
  }
  check_window(window, spatial_axes);
  const int batch_axes = x.rank() - spatial_axes - 1;
  if (batch_axes < 0) {
    throw ShapeError("[conv] x has shape " + to_string(x) + ", expected [*batch, *space, in] with " +
                     std::to_string(spatial_axes) + " spatial axes for a kernel of shape " + to_string(kernel) + ".");
  }
  check_channels(x, kernel, window.feature_groups);
  const List<Index> strides = per_axis(window.strides, spatial_axes, "strides");
  const List<Index> input_dilation = per_axis(window.input_dilation, spatial_axes, "input dilations");
  const List<Index> kernel_dilation = per_axis(window.kernel_dilation, spatial_axes, "kernel dilations");
  const List<PadWidth> widths = window.padding.widths(spatial_axes);
  ConvGeometry geometry{x.axes(0, batch_axes), {}, x[-1], kernel[-1], window.feature_groups};
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const int axis_of_kernel = static_cast<int>(i);
    ConvAxis axis{.size = x[batch_axes + axis_of_kernel],
                  .taps = kernel[axis_of_kernel],
                  .windows = 0,
                  .stride = strides[i],
                  .padding = {},
                  .input_dilation = input_dilation[i],
                  .kernel_dilation = kernel_dilation[i]};
    if (axis.taps == 0) throw ShapeError("[conv] the kernel of shape " + to_string(kernel) + " has no taps.");
    const Index positions = extent(axis.taps, axis.kernel_dilation);
    axis.padding = widths.empty() ? mode_padding(window.padding.mode(), axis, positions) : widths[i];
    check_continuable(window.padding.mode(), axis, x);
    count_windows(axis, positions, padded_size(window.padding.mode(), axis), x, kernel);
    geometry.axes.push_back(axis);
  }
  return geometry;
}

}  // namespace internal
}  // namespace strata
