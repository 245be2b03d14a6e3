// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/compare.h"

#include <limits>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/operands.h"
#include "strata/tensor/reduce.h"

namespace strata {
namespace {

using internal::Binary;
using internal::Comparison;

// A number outside of the range of the integer tensor is a number to compare with, not an error.
DType comparable_dtype(const Tensor& a, const Tensor& b) { return internal::common_dtype(a, b); }
DType comparable_dtype(const Tensor& a, const Scalar& b) {
  const DType common = internal::common_dtype(a, b);
  if (b.fits(common)) return common;
  return b.fits(DType::int64) ? promote(common, DType::int64) : promote(common, DType::uint64);
}
DType comparable_dtype(const Scalar& a, const Tensor& b) { return comparable_dtype(b, a); }

Tensor plain(const Tensor& x, DType dtype) { return stop_gradient(x).astype(dtype); }
Scalar plain(const Scalar& x, DType) { return x; }

template <class A, class B>
Tensor compare(Comparison operation, const A& a, const B& b, const char* name) {
  const DType dtype = computing_dtype(comparable_dtype(a, b));
  return internal::combine_rows(internal::comparison_row(operation, dtype), plain(a, dtype), plain(b, dtype), dtype,
                                DType::boolean, name);
}

Tensor combine_truth(Binary operation, const Tensor& a, const Tensor& b, const char* name) {
  constexpr DType truth = DType::boolean;
  return internal::combine_rows(internal::binary_row(operation, truth), a.astype(truth), b.astype(truth), truth, truth,
                                name);
}

}  // namespace

Tensor operator<(const Tensor& a, const Tensor& b) { return compare(Comparison::less, a, b, "less"); }
Tensor operator<(const Tensor& a, Scalar b) { return compare(Comparison::less, a, b, "less"); }
Tensor operator<(Scalar a, const Tensor& b) { return compare(Comparison::less, a, b, "less"); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return compare(Comparison::less_equal, a, b, "less_equal"); }
Tensor operator<=(const Tensor& a, Scalar b) { return compare(Comparison::less_equal, a, b, "less_equal"); }
Tensor operator<=(Scalar a, const Tensor& b) { return compare(Comparison::less_equal, a, b, "less_equal"); }
Tensor operator>(const Tensor& a, const Tensor& b) { return compare(Comparison::less, b, a, "greater"); }
Tensor operator>(const Tensor& a, Scalar b) { return compare(Comparison::less, b, a, "greater"); }
Tensor operator>(Scalar a, const Tensor& b) { return compare(Comparison::less, b, a, "greater"); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return compare(Comparison::less_equal, b, a, "greater_equal"); }
Tensor operator>=(const Tensor& a, Scalar b) { return compare(Comparison::less_equal, b, a, "greater_equal"); }
Tensor operator>=(Scalar a, const Tensor& b) { return compare(Comparison::less_equal, b, a, "greater_equal"); }

Tensor equal(const Tensor& a, const Tensor& b) { return compare(Comparison::equal, a, b, "equal"); }
Tensor equal(const Tensor& a, Scalar b) { return compare(Comparison::equal, a, b, "equal"); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return compare(Comparison::not_equal, a, b, "not_equal"); }
Tensor not_equal(const Tensor& a, Scalar b) { return compare(Comparison::not_equal, a, b, "not_equal"); }

Tensor logical_and(const Tensor& a, const Tensor& b) { return combine_truth(Binary::multiply, a, b, "logical_and"); }
Tensor logical_or(const Tensor& a, const Tensor& b) { return combine_truth(Binary::add, a, b, "logical_or"); }
Tensor logical_not(const Tensor& x) { return equal(x, false); }

Tensor is_nan(const Tensor& x) { return not_equal(x, x); }

Tensor is_finite(const Tensor& x) {
  if (!is_floating(x.dtype())) return equal(x, x);
  return abs(stop_gradient(x)) < std::numeric_limits<double>::infinity();
}

bool all_close(const Tensor& a, const Tensor& b, double relative, double absolute) {
  const Tensor x = stop_gradient(a).astype(DType::float64);
  const Tensor y = stop_gradient(b).astype(DType::float64);
  const Tensor near = logical_and(abs(x - y) <= absolute + relative * abs(y), is_finite(y));
  return all(logical_or(near, equal(x, y))).item<bool>();
}

}  // namespace strata
