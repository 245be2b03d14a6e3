// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/dtype.h"
#include "strata/tensor/scalar.h"
#include "strata/tensor/tensor.h"

// Elementwise operations without gradients, on one element type at a time. Two-byte floats are not among the types:
// callers compute in float32.
namespace strata::internal {

enum class Binary { add, subtract, multiply, divide, power, maximum, minimum };
enum class Comparison { equal, not_equal, less, less_equal };
enum class Unary {
  negative,
  absolute,
  sign,
  square,
  sqrt,
  rsqrt,
  exp,
  expm1,
  log,
  log1p,
  sin,
  cos,
  erf,
  sigmoid,
  tanh,
  relu
};

// out[i] = a[i * step_a] op b[i * step_b] for i in [0, n); steps are 0 or 1. `out` may be `a` or `b`.
using BinaryRow = void (*)(const void* a, Index step_a, const void* b, Index step_b, void* out, Index n);
using UnaryRow = void (*)(const void* x, void* out, Index n);

// The function for an operation and element type; null if there is none: see the docstrings of the public functions.
[[nodiscard]] BinaryRow binary_row(Binary operation, DType dtype);
[[nodiscard]] BinaryRow comparison_row(Comparison operation, DType dtype);  // `out` is bool
[[nodiscard]] UnaryRow unary_row(Unary operation, DType dtype);

// The vectorised ones for float32 and float64; null for operations that have none.
[[nodiscard]] BinaryRow simd_binary_row(Binary operation, DType dtype);
[[nodiscard]] UnaryRow simd_unary_row(Unary operation, DType dtype);

// One side of an operation: a tensor, or a number in the element type `dtype`, which must outlive the operand.
class Operand {
 public:
  explicit Operand(const Tensor& x);
  Operand(Scalar x, DType dtype);

  [[nodiscard]] const Shape& shape() const { return *shape_; }
  [[nodiscard]] const std::byte* data() const { return shape_ == &number_shape ? number_ : data_; }

 private:
  static const Shape number_shape;
  const Shape* shape_;
  const std::byte* data_ = nullptr;
  alignas(8) std::byte number_[8]{};
};

// The elements of a and b, of one width, combined row by row; `out` has their broadcast shape. Large operations are
// shared among threads.
void run_binary(BinaryRow row, const Operand& a, const Operand& b, int width, Tensor& out);
[[nodiscard]] Tensor run_unary(UnaryRow row, const Tensor& x);

}  // namespace strata::internal
