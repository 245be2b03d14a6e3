// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/manipulate.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/axes.h"
#include "strata/tensor/internal/reduce.h"
#include "strata/tensor/internal/strided_copy.h"

namespace strata {
namespace {

using internal::dense_strides;
using internal::normalize_axes;

// A row-major tensor of the given shape, read from x at these distances (in elements), beginning with element `first`.
Tensor gathered(const Tensor& x, Index first, const Shape& shape, std::span<const Index> strides) {
  Tensor result = Tensor::uninitialized(shape, x.dtype());
  if (result.size() == 0) return result;
  const int width = size_in_bytes(x.dtype());
  internal::copy_strided(result.mutable_bytes().data(), dense_strides(shape), x.bytes().data() + first * width, strides,
                         shape, width);
  return result;
}

// True if the axes that are not of size 1 keep their order.
bool keeps_layout(const Shape& shape, std::span<const int> order) {
  int last = -1;
  for (const int axis : order) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

// `order` names every axis once, counted from the front.
Tensor permuted(const Tensor& x, const internal::List<int>& order) {
  const internal::List<Index> strides = dense_strides(x.shape());
  internal::List<Index> sizes;
  internal::List<Index> from;
  for (const int axis : order) {
    sizes.push_back(x.size(axis));
    from.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  const Shape shape{std::span<const Index>(sizes)};
  if (keeps_layout(x.shape(), order)) return x.reshape(shape);
  Tensor result = gathered(x, 0, shape, from);
  if (!x.is_tracked()) return result;
  internal::List<int> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  return differentiable(std::move(result), {x},
                        [inverse](const Tensor& dy) { return std::vector<Cotangent>{permuted(dy, inverse)}; });
}

internal::List<int> all_axes(const Tensor& x) {
  internal::List<int> axes(static_cast<std::size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Tensor flipped(const Tensor& x, const internal::List<int>& axes) {
  internal::List<Index> strides = dense_strides(x.shape());
  Index first = 0;
  for (const int axis : axes) {
    Index& stride = strides[static_cast<std::size_t>(axis)];
    first += (x.size(axis) - 1) * stride;
    stride = -stride;
  }
  Tensor result = gathered(x, first, x.shape(), strides);
  if (!x.is_tracked()) return result;
  return differentiable(std::move(result), {x},
                        [axes](const Tensor& dy) { return std::vector<Cotangent>{flipped(dy, axes)}; });
}

void check_count(Index count, const char* operation) {
  if (count < 0) {
    throw ValueError("[" + std::string(operation) + "] the count is negative: " + std::to_string(count) + ".");
  }
}

// x[outer, size, inner] as [outer, before, size, after, inner], along two new axes.
Tensor repeated(const Tensor& x, int axis, Index before, Index after, const char* operation) {
  const Shape& shape = x.shape();
  const Shape outer = shape.axes(0, axis);
  const Shape inner = shape.axes(axis + 1, shape.rank());
  const Index count = before * after;
  const Index size = internal::multiply_sizes(shape[axis], count, operation);
  const Tensor apart = x.reshape(outer.append({1, shape[axis], 1}).append(inner));
  return broadcast_to(apart, outer.append({before, shape[axis], after}).append(inner))
      .reshape(internal::with_size(shape, axis, size));
}

}  // namespace

Tensor transpose(const Tensor& x) {
  internal::List<int> order = all_axes(x);
  std::reverse(order.begin(), order.end());
  return permuted(x, order);
}

Tensor transpose(const Tensor& x, std::span<const int> axes) {
  if (normalize_axes(axes, x.shape(), "transpose").size() != static_cast<std::size_t>(x.rank())) {
    throw ShapeError("[transpose] " + std::to_string(axes.size()) + " axes for a tensor of shape " +
                     to_string(x.shape()) + ". Name every axis once.");
  }
  internal::List<int> order;
  for (const int axis : axes) order.push_back(x.shape().normalize_axis(axis));
  return permuted(x, order);
}

Tensor transpose(const Tensor& x, std::initializer_list<int> axes) {
  return transpose(x, std::span<const int>(axes.begin(), axes.size()));
}

Tensor swap_axes(const Tensor& x, int a, int b) {
  internal::List<int> order = all_axes(x);
  const auto first = static_cast<std::size_t>(x.shape().normalize_axis(a, "swap_axes"));
  const auto second = static_cast<std::size_t>(x.shape().normalize_axis(b, "swap_axes"));
  std::swap(order[first], order[second]);
  return permuted(x, order);
}

Tensor move_axis(const Tensor& x, int from, int to) {
  const int source = x.shape().normalize_axis(from, "move_axis");
  const int target = x.shape().normalize_axis(to, "move_axis");
  internal::List<int> order = all_axes(x);
  order.erase(order.begin() + source);
  order.insert(order.begin() + target, source);
  return permuted(x, order);
}

Tensor expand_dims(const Tensor& x, int axis) {
  const int rank = x.rank() + 1;
  if (axis < -rank || axis >= rank) {
    throw ShapeError("[expand_dims] there is no position " + std::to_string(axis) + " for a new axis: the shape is " +
                     to_string(x.shape()) + ".");
  }
  const int position = axis < 0 ? axis + rank : axis;
  return x.reshape(x.shape().axes(0, position).append({1}).append(x.shape().axes(position, x.rank())));
}

Tensor squeeze(const Tensor& x, const Axes& axes) {
  const internal::List<int> removed = normalize_axes(axes.named(), x.shape(), "squeeze");
  internal::List<Index> sizes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool is_one = x.size(axis) == 1;
    const bool is_named = std::binary_search(removed.begin(), removed.end(), axis);
    if (is_named && !is_one) {
      throw ShapeError("[squeeze] axis " + std::to_string(axis) + " of " + to_string(x.shape()) + " is not of size 1.");
    }
    if (!is_named && !(axes.all() && is_one)) sizes.push_back(x.size(axis));
  }
  return x.reshape(Shape(std::span<const Index>(sizes)));
}

Tensor flatten(const Tensor& x, int first, int last) {
  if (x.rank() == 0) return x.reshape({1});
  const int begin = x.shape().normalize_axis(first, "flatten");
  const int end = x.shape().normalize_axis(last, "flatten") + 1;
  if (begin >= end) {
    throw ShapeError("[flatten] axis " + std::to_string(first) + " stands behind axis " + std::to_string(last) +
                     ": the shape is " + to_string(x.shape()) + ".");
  }
  const Shape merged{x.shape().axes(begin, end).num_elements()};
  return x.reshape(x.shape().axes(0, begin).append(merged).append(x.shape().axes(end, x.rank())));
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int added = shape.rank() - x.rank();
  const internal::List<Index> dense = dense_strides(x.shape());
  internal::List<Index> strides(static_cast<std::size_t>(std::max(added, 0)), 0);
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (added < 0 || (x.size(axis) != 1 && x.size(axis) != shape[axis + added])) {
      throw ShapeError("[broadcast_to] " + to_string(x.shape()) + " cannot become " + to_string(shape) +
                       ". Sizes aligned at the last axis must be equal or, in the first, 1.");
    }
    strides.push_back(x.size(axis) == 1 ? 0 : dense[static_cast<std::size_t>(axis)]);
  }
  return differentiable(gathered(x, 0, shape, strides), {x}, [original = x.shape()](const Tensor& dy) {
    return std::vector<Cotangent>{internal::sum_to_shape(dy, original)};
  });
}

Tensor flip(const Tensor& x, const Axes& axes) {
  return flipped(x, axes.all() ? all_axes(x) : normalize_axes(axes.named(), x.shape(), "flip"));
}

Tensor repeat(const Tensor& x, Index count, int axis) {
  check_count(count, "repeat");
  return repeated(x, x.shape().normalize_axis(axis, "repeat"), 1, count, "repeat");
}

Tensor tile(const Tensor& x, Index count, int axis) {
  check_count(count, "tile");
  return repeated(x, x.shape().normalize_axis(axis, "tile"), count, 1, "tile");
}

}  // namespace strata
