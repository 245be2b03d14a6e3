// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/tensor.h"

// Elements by the numbers of their positions. Indices are tensors of any integer type; negative ones count from the
// end. DTypeError if they are not integers, ValueError if one is out of range, before anything is done. Gradients flow
// to the elements, never to the indices; where an index occurs more than once, terms are added in the order of the
// indices.
namespace strata {

// The entries of an axis that `indices` name. x is [*outer, n, *inner], the result [*outer, *indices, *inner]; a
// scalar index takes the axis away.
[[nodiscard]] Tensor take(const Tensor& x, const Tensor& indices, int axis);

// Along an axis, one element for each index: result[.., i, ..] = x[.., indices[.., i, ..], ..]. The ranks are equal,
// and the other sizes are broadcast together. Throws ShapeError if they do not fit.
[[nodiscard]] Tensor take_along_axis(const Tensor& x, const Tensor& indices, int axis);

// x plus `updates` at the entries of an axis that `indices` name: the transpose of take. x is [*outer, n, *inner],
// updates [*outer, *indices, *inner] of the same element type. Throws ShapeError or DTypeError otherwise.
[[nodiscard]] Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates, int axis);

// 1 at the index along a new last axis, 0 elsewhere: [*indices, n]. Throws ValueError if n is negative.
[[nodiscard]] Tensor one_hot(const Tensor& indices, Index n, DType dtype = DType::float32);

}  // namespace strata
