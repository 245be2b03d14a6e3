// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/internal/operands.h"
#include "strata/tensor/internal/tensor_access.h"

namespace strata {
namespace {

using internal::Binary;

// Whether b broadcasts to the shape of a.
bool keeps_shape(const Tensor& a, const Tensor& b) {
  if (b.rank() > a.rank()) return false;
  return std::equal(b.shape().begin(), b.shape().end(), a.shape().end() - b.rank(),
                    [](Index small, Index large) { return small == large || small == 1; });
}
bool keeps_shape(const Tensor&, const Scalar&) { return true; }

// Computes into the elements of `a` and returns true if the result fits there. Allocates nothing where both have one
// shape and element type: an optimizer's step relies on that.
template <class B>
bool assign_in_place(Binary operation, Tensor& a, const B& b) {
  const DType dtype = a.dtype();
  // Writing to shared elements would copy them first: then a new tensor costs less.
  if (!internal::TensorAccess::owns_elements(a) || a.is_tracked() || internal::is_tracked(b)) return false;
  if (internal::common_dtype(a, b) != dtype || is_two_byte_float(dtype)) return false;
  if (!is_floating(dtype) || !keeps_shape(a, b)) return false;
  const auto compute = [&](const B& same_type) {
    internal::run_binary(internal::binary_row(operation, dtype), internal::Operand(a),
                         internal::operand(same_type, dtype), size_in_bytes(dtype), a);
  };
  internal::has_dtype(b, dtype) ? compute(b) : compute(internal::converted(b, dtype));
  return true;
}

}  // namespace

Tensor& operator+=(Tensor& a, const Tensor& b) {
  if (!assign_in_place(Binary::add, a, b)) a = a + b;
  return a;
}

Tensor& operator+=(Tensor& a, Scalar b) {
  if (!assign_in_place(Binary::add, a, b)) a = a + b;
  return a;
}

Tensor& operator-=(Tensor& a, const Tensor& b) {
  if (!assign_in_place(Binary::subtract, a, b)) a = a - b;
  return a;
}

Tensor& operator-=(Tensor& a, Scalar b) {
  if (!assign_in_place(Binary::subtract, a, b)) a = a - b;
  return a;
}

Tensor& operator*=(Tensor& a, const Tensor& b) {
  if (!assign_in_place(Binary::multiply, a, b)) a = a * b;
  return a;
}

Tensor& operator*=(Tensor& a, Scalar b) {
  if (!assign_in_place(Binary::multiply, a, b)) a = a * b;
  return a;
}

Tensor& operator/=(Tensor& a, const Tensor& b) {
  if (!assign_in_place(Binary::divide, a, b)) a = a / b;
  return a;
}

Tensor& operator/=(Tensor& a, Scalar b) {
  if (!assign_in_place(Binary::divide, a, b)) a = a / b;
  return a;
}

}  // namespace strata
