// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "strata/tensor/error.h"
#include "strata/tensor/internal/elementwise.h"

// What operations that take a Tensor or a Scalar on either side (types A and B below) have in common.
namespace strata::internal {

[[nodiscard]] inline bool is_tracked(const Tensor& x) { return x.is_tracked(); }
[[nodiscard]] inline bool is_tracked(const Scalar&) { return false; }

[[nodiscard]] inline const Shape& shape_of(const Tensor& x) { return x.shape(); }
[[nodiscard]] inline Shape shape_of(const Scalar&) { return Shape(); }

[[nodiscard]] inline DType common_dtype(const Tensor& a, const Tensor& b) { return promote(a.dtype(), b.dtype()); }
[[nodiscard]] inline DType common_dtype(const Tensor& a, const Scalar& b) { return b.promote_with(a.dtype()); }
[[nodiscard]] inline DType common_dtype(const Scalar& a, const Tensor& b) { return a.promote_with(b.dtype()); }

[[nodiscard]] inline bool has_dtype(const Tensor& x, DType dtype) { return x.dtype() == dtype; }
[[nodiscard]] inline bool has_dtype(const Scalar&, DType) { return true; }

[[nodiscard]] inline Tensor converted(const Tensor& x, DType dtype) { return x.astype(dtype); }
[[nodiscard]] inline Scalar converted(const Scalar& x, DType) { return x; }

[[nodiscard]] inline Operand operand(const Tensor& x, DType) { return Operand(x); }
[[nodiscard]] inline Operand operand(const Scalar& x, DType dtype) { return Operand(x, dtype); }

inline void require_fits(const Tensor&, DType, const char*) {}
inline void require_fits(const Scalar& x, DType dtype, const char* operation) {
  if (x.fits(dtype)) return;
  throw ValueError("[" + std::string(operation) + "] " + to_string(x) + " is not in the range of " +
                   std::string(name(dtype)) + ". Convert the tensor with astype.");
}

// f(a, b) in the type that computes what has the type `result`, then converted to that.
template <class A, class B, class F>
[[nodiscard]] Tensor compute_as(DType result, const A& a, const B& b, const char* operation, F f) {
  require_fits(a, result, operation);
  require_fits(b, result, operation);
  const DType computing = computing_dtype(result);
  if (has_dtype(a, computing) && has_dtype(b, computing)) return f(a, b);
  return f(converted(a, computing), converted(b, computing)).astype(result);
}

// The elements of a and b, both of the type `dtype` if tensors, combined to elements of the type `result`.
template <class A, class B>
[[nodiscard]] Tensor combine_rows(BinaryRow row, const A& a, const B& b, DType dtype, DType result,
                                  const char* operation) {
  if (row == nullptr) {
    throw DTypeError("[" + std::string(operation) + "] is not defined for " + std::string(name(dtype)) +
                     ". Convert with astype.");
  }
  Tensor out = Tensor::uninitialized(broadcast_shapes(shape_of(a), shape_of(b), operation), result);
  run_binary(row, operand(a, dtype), operand(b, dtype), size_in_bytes(dtype), out);
  return out;
}

}  // namespace strata::internal
