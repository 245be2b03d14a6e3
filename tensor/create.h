// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/scalar.h"
#include "strata/tensor/tensor.h"

// Tensors from nothing but a shape and a number. The element type is float32 unless said otherwise.
namespace strata {

[[nodiscard]] Tensor zeros(const Shape& shape, DType dtype = DType::float32);
[[nodiscard]] Tensor ones(const Shape& shape, DType dtype = DType::float32);
[[nodiscard]] Tensor full(const Shape& shape, Scalar value, DType dtype = DType::float32);

// Of the shape and element type of another tensor.
[[nodiscard]] Tensor zeros_like(const Tensor& x);
[[nodiscard]] Tensor ones_like(const Tensor& x);
[[nodiscard]] Tensor full_like(const Tensor& x, Scalar value);

// The integers begin, begin + step, ... before `end`, as int64; none if end lies on the other side. For other element
// types, use astype or linspace. Throws ValueError if step is 0.
[[nodiscard]] Tensor arange(Index end);
[[nodiscard]] Tensor arange(Index begin, Index end, Index step = 1);

// `count` numbers at equal distances, the first `begin`, the last `end`. Throws ValueError if count is negative,
// DTypeError if dtype is not floating.
[[nodiscard]] Tensor linspace(double begin, double end, Index count, DType dtype = DType::float32);

// The identity matrix, [size, size].
[[nodiscard]] Tensor eye(Index size, DType dtype = DType::float32);

}  // namespace strata
