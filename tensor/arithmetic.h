// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/scalar.h"
#include "strata/tensor/tensor.h"

// Arithmetic, element by element. Shapes are broadcast and element types promoted by NumPy's rules (see
// broadcast_shapes, promote, Scalar). All functions are differentiable.
//
// Errors: ShapeError if shapes do not broadcast; DTypeError where an operation is not defined for bool; ValueError if
// an integer number is outside of the range of the integer tensor it meets. Integer tensors wrap around on overflow.
namespace strata {

// For bool: "or".
[[nodiscard]] Tensor operator+(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator+(const Tensor& a, Scalar b);
[[nodiscard]] Tensor operator+(Scalar a, const Tensor& b);

// Not for bool.
[[nodiscard]] Tensor operator-(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator-(const Tensor& a, Scalar b);
[[nodiscard]] Tensor operator-(Scalar a, const Tensor& b);
[[nodiscard]] Tensor operator-(const Tensor& x);

// For bool: "and".
[[nodiscard]] Tensor operator*(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator*(const Tensor& a, Scalar b);
[[nodiscard]] Tensor operator*(Scalar a, const Tensor& b);

// The true quotient: integers and bool give float64 (JAX: float32).
[[nodiscard]] Tensor operator/(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator/(const Tensor& a, Scalar b);
[[nodiscard]] Tensor operator/(Scalar a, const Tensor& b);

// a = a op b, so that shape and element type can change; without allocation where the result fits the elements of `a`,
// these are shared with no other tensor, and neither side is tracked.
Tensor& operator+=(Tensor& a, const Tensor& b);
Tensor& operator+=(Tensor& a, Scalar b);
Tensor& operator-=(Tensor& a, const Tensor& b);
Tensor& operator-=(Tensor& a, Scalar b);
Tensor& operator*=(Tensor& a, const Tensor& b);
Tensor& operator*=(Tensor& a, Scalar b);
Tensor& operator/=(Tensor& a, const Tensor& b);
Tensor& operator/=(Tensor& a, Scalar b);

// base to the power of exponent. Not for bool; throws ValueError for a negative exponent of an integer. The gradient
// with respect to the exponent is 0 where the base is 0; where it is negative, NaN.
[[nodiscard]] Tensor power(const Tensor& base, const Tensor& exponent);
[[nodiscard]] Tensor power(const Tensor& base, Scalar exponent);
[[nodiscard]] Tensor power(Scalar base, const Tensor& exponent);

// The larger and the smaller of each pair; NaN if one of them is. Where both are equal, each gets half of the gradient.
[[nodiscard]] Tensor maximum(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor maximum(const Tensor& a, Scalar b);
[[nodiscard]] Tensor maximum(Scalar a, const Tensor& b);
[[nodiscard]] Tensor minimum(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor minimum(const Tensor& a, Scalar b);
[[nodiscard]] Tensor minimum(Scalar a, const Tensor& b);

// x limited to [low, high]; NaN stays NaN; `high` if low > high. The gradient is passed on from low to high, inclusive.
[[nodiscard]] Tensor clip(const Tensor& x, Scalar low, Scalar high);

// The gradient of abs and sign at 0 is 0. sign is not for bool.
[[nodiscard]] Tensor abs(const Tensor& x);
[[nodiscard]] Tensor sign(const Tensor& x);
[[nodiscard]] Tensor square(const Tensor& x);

// Functions of real numbers: integers and bool give float64 (JAX: float32). Outside of their domain the result is NaN,
// at a pole infinite. The gradient of sqrt at 0 is infinite.
[[nodiscard]] Tensor sqrt(const Tensor& x);
[[nodiscard]] Tensor rsqrt(const Tensor& x);  // 1 / sqrt(x)
[[nodiscard]] Tensor exp(const Tensor& x);
[[nodiscard]] Tensor expm1(const Tensor& x);  // exp(x) - 1, accurate near 0
[[nodiscard]] Tensor log(const Tensor& x);
[[nodiscard]] Tensor log1p(const Tensor& x);  // log(1 + x), accurate near 0
[[nodiscard]] Tensor sin(const Tensor& x);
[[nodiscard]] Tensor cos(const Tensor& x);
[[nodiscard]] Tensor erf(const Tensor& x);

}  // namespace strata
