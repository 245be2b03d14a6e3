// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "strata/tensor/axes.h"
#include "strata/tensor/scalar.h"
#include "strata/tensor/tensor.h"

// Elements in another arrangement. All of these take every element type and are differentiable; negative axes and
// positions count from the end; ShapeError names the axis or the shapes that do not fit.
namespace strata {

// x with its axes in another order: axis i of the result is axis axes[i] of x. Without axes, their order is reversed.
// Throws ShapeError unless every axis is named once. No copy if only axes of size 1 move.
[[nodiscard]] Tensor transpose(const Tensor& x);
[[nodiscard]] Tensor transpose(const Tensor& x, std::span<const int> axes);
[[nodiscard]] Tensor transpose(const Tensor& x, std::initializer_list<int> axes);

// x with two axes exchanged.
[[nodiscard]] Tensor swap_axes(const Tensor& x, int a, int b);

// x with one axis taken out and put in at the position `to`; the others keep their order.
[[nodiscard]] Tensor move_axis(const Tensor& x, int from, int to);

// x with a new axis of size 1 at the position `axis` of the result, without copying.
[[nodiscard]] Tensor expand_dims(const Tensor& x, int axis);

// x without the named axes, which must have size 1, without copying; by default without all axes of size 1.
[[nodiscard]] Tensor squeeze(const Tensor& x, const Axes& axes = {});

// x with the axes first to last (inclusive) made one, without copying. A scalar becomes a vector of one element.
[[nodiscard]] Tensor flatten(const Tensor& x, int first = 0, int last = -1);

// x repeated along new leading axes and along axes of size 1 until it has the shape. Throws ShapeError if it cannot.
[[nodiscard]] Tensor broadcast_to(const Tensor& x, const Shape& shape);

// One tensor after the other along an existing axis. Their other sizes must be equal; element types are promoted.
// Throws ValueError if there are none.
[[nodiscard]] Tensor concatenate(std::span<const Tensor> tensors, int axis);
[[nodiscard]] Tensor concatenate(std::initializer_list<Tensor> tensors, int axis);

// Tensors of equal shape along a new axis, which has the position `axis` in the result. Element types are promoted.
// Throws ValueError if there are none.
[[nodiscard]] Tensor stack(std::span<const Tensor> tensors, int axis);
[[nodiscard]] Tensor stack(std::initializer_list<Tensor> tensors, int axis);

// x cut along an axis into `sections` of equal size. Throws ShapeError if the size is not a multiple of that.
[[nodiscard]] std::vector<Tensor> split_axis(const Tensor& x, Index sections, int axis);

// Positions [begin, end) along an axis. Copies unless all axes before it have size 1. Throws ValueError if there are
// no such positions.
[[nodiscard]] Tensor slice_axis(const Tensor& x, int axis, Index begin, Index end);

// x with the order along the named axes reversed; by default along all.
[[nodiscard]] Tensor flip(const Tensor& x, const Axes& axes = {});

struct PadWidth {
  Index before = 0;
  Index after = 0;
  bool operator==(const PadWidth&) const = default;
};

// x surrounded by `value`, converted to the element type of x; one width for each axis. Throws ShapeError if their
// number is not the rank, ValueError if one is negative.
[[nodiscard]] Tensor pad(const Tensor& x, std::span<const PadWidth> widths, Scalar value = 0);
[[nodiscard]] Tensor pad(const Tensor& x, std::initializer_list<PadWidth> widths, Scalar value = 0);

// Every entry along an axis `count` times in a row: repeat([1, 2], 2, 0) is [1, 1, 2, 2]. Throws ValueError if count is
// negative.
[[nodiscard]] Tensor repeat(const Tensor& x, Index count, int axis);

// x as a whole `count` times along an axis: tile([1, 2], 2, 0) is [1, 2, 1, 2]. Throws ValueError if count is negative.
[[nodiscard]] Tensor tile(const Tensor& x, Index count, int axis);

}  // namespace strata
