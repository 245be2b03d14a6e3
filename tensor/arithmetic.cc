// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/arithmetic.h"

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/operands.h"
#include "strata/tensor/internal/reduce.h"
#include "strata/tensor/reduce.h"

namespace strata {
namespace {

using internal::Binary;

// The types A and B stand for Tensor or Scalar, one of them being Tensor; tensors have the type that is computed in.

// Carries the gradient of a result back to an operand, in the shape of the result; empty if nobody asks.
using Pullback = std::function<Tensor(const Tensor&)>;

template <class F>
Pullback pullback_if(bool tracked, F&& f) {
  return tracked ? Pullback(std::forward<F>(f)) : Pullback();
}

Cotangent pull(const Pullback& pullback, const Tensor& dy, const Shape& shape) {
  if (!pullback) return std::nullopt;
  return internal::sum_to_shape(pullback(dy), shape);
}

// y = f(a, b) made differentiable. Called only where an operand is tracked: making pullbacks allocates.
template <class A, class B, class ToA, class ToB>
Tensor with_gradients(Tensor y, const A& a, const B& b, ToA to_a, ToB to_b) {
  if constexpr (std::is_same_v<A, Scalar>) {
    return differentiable(std::move(y), {b}, [to_b, shape = b.shape()](const Tensor& dy) {
      return std::vector<Cotangent>{internal::sum_to_shape(to_b(dy), shape)};
    });
  } else if constexpr (std::is_same_v<B, Scalar>) {
    return differentiable(std::move(y), {a}, [to_a, shape = a.shape()](const Tensor& dy) {
      return std::vector<Cotangent>{internal::sum_to_shape(to_a(dy), shape)};
    });
  } else {
    return differentiable(std::move(y), {a, b},
                          [to_a = pullback_if(a.is_tracked(), to_a), to_b = pullback_if(b.is_tracked(), to_b),
                           shape_a = a.shape(), shape_b = b.shape()](const Tensor& dy) {
                            return std::vector<Cotangent>{pull(to_a, dy, shape_a), pull(to_b, dy, shape_b)};
                          });
  }
}

template <class A, class B>
Tensor values(Binary operation, const A& a, const B& b, const char* name) {
  DType dtype = DType::float32;
  if constexpr (std::is_same_v<A, Scalar>) {
    dtype = b.dtype();
  } else {
    dtype = a.dtype();
  }
  return internal::combine_rows(internal::binary_row(operation, dtype), a, b, dtype, dtype, name);
}

constexpr auto same = [](const Tensor& dy) { return dy; };

constexpr auto add = [](const auto& a, const auto& b) {
  Tensor y = values(Binary::add, a, b, "add");
  if (!internal::is_tracked(a) && !internal::is_tracked(b)) return y;
  return with_gradients(std::move(y), a, b, same, same);
};

constexpr auto subtract = [](const auto& a, const auto& b) {
  Tensor y = values(Binary::subtract, a, b, "subtract");
  if (!internal::is_tracked(a) && !internal::is_tracked(b)) return y;
  return with_gradients(std::move(y), a, b, same, [](const Tensor& dy) { return -dy; });
};

constexpr auto multiply = [](const auto& a, const auto& b) {
  Tensor y = values(Binary::multiply, a, b, "multiply");
  if (!internal::is_tracked(a) && !internal::is_tracked(b)) return y;
  return with_gradients(
      std::move(y), a, b, [b](const Tensor& dy) { return dy * b; }, [a](const Tensor& dy) { return dy * a; });
};

constexpr auto divide = [](const auto& a, const auto& b) {
  Tensor y = values(Binary::divide, a, b, "divide");
  if (!internal::is_tracked(a) && !internal::is_tracked(b)) return y;
  return with_gradients(
      y, a, b, [b](const Tensor& dy) { return dy / b; }, [y, b](const Tensor& dy) { return -(dy * y) / b; });
};

// The gradient of an operand that wins where a > b, and half of it where a = b; and where a < b.
constexpr auto if_above = [](const auto& a, const auto& b) {
  return [a, b](const Tensor& dy) { return where(equal(a, b), dy * 0.5, where(a > b, dy, 0)); };
};
constexpr auto if_below = [](const auto& a, const auto& b) {
  return [a, b](const Tensor& dy) { return where(equal(a, b), dy * 0.5, where(a < b, dy, 0)); };
};

constexpr auto larger = [](const Tensor& a, const auto& b) {
  Tensor y = values(Binary::maximum, a, b, "maximum");
  if (!internal::is_tracked(a) && !internal::is_tracked(b)) return y;
  return with_gradients(std::move(y), a, b, if_above(a, b), if_below(a, b));
};

constexpr auto smaller = [](const Tensor& a, const auto& b) {
  Tensor y = values(Binary::minimum, a, b, "minimum");
  if (!internal::is_tracked(a) && !internal::is_tracked(b)) return y;
  return with_gradients(std::move(y), a, b, if_below(a, b), if_above(a, b));
};

// Where the exponent is 0, b a^(b - 1) would be 0 * inf at a = 0.
Tensor base_gradient(const Tensor& dy, const Tensor& base, const Tensor& exponent) {
  return where(equal(exponent, 0), 0, dy * exponent * power(base, exponent - 1));
}
Tensor base_gradient(const Tensor& dy, const Tensor& base, const Scalar& exponent) {
  const auto p = exponent.as<double>();
  return p == 0 ? zeros_like(dy) : dy * (power(base, p - 1) * p);
}

Tensor log_of_base(const Tensor& base) { return log(where(equal(base, 0), 1, base)); }
Scalar log_of_base(const Scalar& base) { return base.as<double>() == 0 ? 0.0 : std::log(base.as<double>()); }

constexpr auto raise = [](const auto& a, const auto& b) {
  Tensor y = values(Binary::power, a, b, "power");
  if (!internal::is_tracked(a) && !internal::is_tracked(b)) return y;
  const auto to_exponent = [y, a](const Tensor& dy) { return dy * y * log_of_base(a); };
  if constexpr (std::is_same_v<std::decay_t<decltype(a)>, Scalar>) {
    return with_gradients(y, a, b, same, to_exponent);
  } else {
    return with_gradients(
        y, a, b, [a, b](const Tensor& dy) { return base_gradient(dy, a, b); }, to_exponent);
  }
};

template <class A, class B, class F>
Tensor promoted(const A& a, const B& b, const char* operation, F f) {
  return internal::compute_as(internal::common_dtype(a, b), a, b, operation, f);
}

template <class A, class B>
Tensor quotient(const A& a, const B& b) {
  const DType common = internal::common_dtype(a, b);
  return internal::compute_as(is_floating(common) ? common : DType::float64, a, b, "divide", divide);
}

void require_no_negative(bool negative) {
  if (!negative) return;
  throw ValueError("[power] an integer has no negative powers that are integers. Convert with astype(float64).");
}

}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) { return promoted(a, b, "add", add); }
Tensor operator+(const Tensor& a, Scalar b) { return promoted(a, b, "add", add); }
Tensor operator+(Scalar a, const Tensor& b) { return promoted(a, b, "add", add); }

Tensor operator-(const Tensor& a, const Tensor& b) { return promoted(a, b, "subtract", subtract); }
Tensor operator-(const Tensor& a, Scalar b) { return promoted(a, b, "subtract", subtract); }
Tensor operator-(Scalar a, const Tensor& b) { return promoted(a, b, "subtract", subtract); }

Tensor operator*(const Tensor& a, const Tensor& b) { return promoted(a, b, "multiply", multiply); }
Tensor operator*(const Tensor& a, Scalar b) { return promoted(a, b, "multiply", multiply); }
Tensor operator*(Scalar a, const Tensor& b) { return promoted(a, b, "multiply", multiply); }

Tensor operator/(const Tensor& a, const Tensor& b) { return quotient(a, b); }
Tensor operator/(const Tensor& a, Scalar b) { return quotient(a, b); }
Tensor operator/(Scalar a, const Tensor& b) { return quotient(a, b); }

Tensor maximum(const Tensor& a, const Tensor& b) { return promoted(a, b, "maximum", larger); }
Tensor maximum(const Tensor& a, Scalar b) { return promoted(a, b, "maximum", larger); }
Tensor maximum(Scalar a, const Tensor& b) { return maximum(b, a); }

Tensor minimum(const Tensor& a, const Tensor& b) { return promoted(a, b, "minimum", smaller); }
Tensor minimum(const Tensor& a, Scalar b) { return promoted(a, b, "minimum", smaller); }
Tensor minimum(Scalar a, const Tensor& b) { return minimum(b, a); }

Tensor power(const Tensor& base, const Tensor& exponent) {
  if (is_integer(promote(base.dtype(), exponent.dtype()))) require_no_negative(any(exponent < 0).item<bool>());
  return promoted(base, exponent, "power", raise);
}

Tensor power(const Tensor& base, Scalar exponent) {
  const auto p = exponent.as<double>();
  if (is_integer(exponent.promote_with(base.dtype()))) {
    require_no_negative(p < 0);
  } else if (p == 2) {
    return square(base);
  } else if (p == 0.5) {
    return sqrt(base);
  }
  return promoted(base, exponent, "power", raise);
}

Tensor power(Scalar base, const Tensor& exponent) {
  if (is_integer(base.promote_with(exponent.dtype()))) require_no_negative(any(exponent < 0).item<bool>());
  return promoted(base, exponent, "power", raise);
}

}  // namespace strata
