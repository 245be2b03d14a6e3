// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/scalar.h"
#include "strata/tensor/tensor.h"

// Comparisons and choices, element by element, with broadcasting: bool tensors, without gradient, unless said
// otherwise. Elements are compared in their promoted type; NaN is unequal to everything. Throws ShapeError if shapes do
// not broadcast.
namespace strata {

[[nodiscard]] Tensor operator<(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator<(const Tensor& a, Scalar b);
[[nodiscard]] Tensor operator<(Scalar a, const Tensor& b);
[[nodiscard]] Tensor operator<=(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator<=(const Tensor& a, Scalar b);
[[nodiscard]] Tensor operator<=(Scalar a, const Tensor& b);
[[nodiscard]] Tensor operator>(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator>(const Tensor& a, Scalar b);
[[nodiscard]] Tensor operator>(Scalar a, const Tensor& b);
[[nodiscard]] Tensor operator>=(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator>=(const Tensor& a, Scalar b);
[[nodiscard]] Tensor operator>=(Scalar a, const Tensor& b);

[[nodiscard]] Tensor equal(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor equal(const Tensor& a, Scalar b);
[[nodiscard]] Tensor not_equal(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor not_equal(const Tensor& a, Scalar b);

// Of truth values; numbers count as true where they are not 0.
[[nodiscard]] Tensor logical_and(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor logical_or(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor logical_not(const Tensor& x);

[[nodiscard]] Tensor is_nan(const Tensor& x);
[[nodiscard]] Tensor is_finite(const Tensor& x);  // neither NaN nor infinite

// a where the condition is true (not 0), b elsewhere. All three are broadcast, a and b promoted. Differentiable with
// respect to a and b; what was not chosen gets the gradient 0, whatever its value.
[[nodiscard]] Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor where(const Tensor& condition, const Tensor& a, Scalar b);
[[nodiscard]] Tensor where(const Tensor& condition, Scalar a, const Tensor& b);

// True if |a - b| <= absolute + relative |b| for all elements, which are broadcast; infinities of the same sign are
// close, NaN to nothing.
[[nodiscard]] bool all_close(const Tensor& a, const Tensor& b, double relative = 1e-5, double absolute = 1e-8);

}  // namespace strata
