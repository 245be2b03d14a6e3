// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/unary.h"

#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/operands.h"

namespace strata {

using internal::real_unary;
using internal::Saves;
using internal::unary;
using internal::Unary;

Tensor internal::unary(Unary operation, const Tensor& x, const char* name, Saves saves, UnaryGradient gradient) {
  const DType computing = computing_dtype(x.dtype());
  if (computing != x.dtype()) return unary(operation, x.astype(computing), name, saves, gradient).astype(x.dtype());
  const UnaryRow row = unary_row(operation, x.dtype());
  if (row == nullptr) {
    throw DTypeError("[" + std::string(name) + "] is not defined for " + describe(x) + ". Convert with astype.");
  }
  Tensor y = run_unary(row, x);
  if (!x.is_tracked()) return y;
  return differentiable(y, {x}, [gradient, saved = saves == Saves::input ? x : y](const Tensor& dy) {
    return std::vector<Cotangent>{gradient(dy, saved)};
  });
}

Tensor internal::real_unary(Unary operation, const Tensor& x, const char* name, Saves saves, UnaryGradient gradient) {
  return unary(operation, is_floating(x.dtype()) ? x : x.astype(DType::float64), name, saves, gradient);
}

Tensor operator-(const Tensor& x) {
  return unary(Unary::negative, x, "negative", Saves::output, [](const Tensor& dy, const Tensor&) { return -dy; });
}

Tensor abs(const Tensor& x) {
  if (x.dtype() == DType::boolean) return x;
  return unary(Unary::absolute, x, "abs", Saves::input,
               [](const Tensor& dy, const Tensor& in) { return dy * sign(in); });
}

Tensor sign(const Tensor& x) { return unary(Unary::sign, stop_gradient(x), "sign", Saves::input, nullptr); }

Tensor square(const Tensor& x) {
  if (x.dtype() == DType::boolean) return x;
  return unary(Unary::square, x, "square", Saves::input,
               [](const Tensor& dy, const Tensor& in) { return dy * (in * 2); });
}

Tensor clip(const Tensor& x, Scalar low, Scalar high) {
  Tensor y = minimum(maximum(stop_gradient(x), low), high);
  if (!x.is_tracked()) return y;
  return differentiable(std::move(y), {x}, [x, low, high](const Tensor& dy) {
    return std::vector<Cotangent>{where(logical_and(low <= x, x <= high), dy, 0)};
  });
}

Tensor sqrt(const Tensor& x) {
  return real_unary(Unary::sqrt, x, "sqrt", Saves::output,
                    [](const Tensor& dy, const Tensor& y) { return dy * (0.5 / y); });
}

Tensor rsqrt(const Tensor& x) {
  return real_unary(Unary::rsqrt, x, "rsqrt", Saves::output,
                    [](const Tensor& dy, const Tensor& y) { return dy * (-0.5 * (y * y * y)); });
}

Tensor exp(const Tensor& x) {
  return real_unary(Unary::exp, x, "exp", Saves::output, [](const Tensor& dy, const Tensor& y) { return dy * y; });
}

Tensor expm1(const Tensor& x) {
  return real_unary(Unary::expm1, x, "expm1", Saves::output,
                    [](const Tensor& dy, const Tensor& y) { return dy * (y + 1); });
}

Tensor log(const Tensor& x) {
  return real_unary(Unary::log, x, "log", Saves::input, [](const Tensor& dy, const Tensor& in) { return dy / in; });
}

Tensor log1p(const Tensor& x) {
  return real_unary(Unary::log1p, x, "log1p", Saves::input,
                    [](const Tensor& dy, const Tensor& in) { return dy / (in + 1); });
}

Tensor sin(const Tensor& x) {
  return real_unary(Unary::sin, x, "sin", Saves::input,
                    [](const Tensor& dy, const Tensor& in) { return dy * cos(in); });
}

Tensor cos(const Tensor& x) {
  return real_unary(Unary::cos, x, "cos", Saves::input,
                    [](const Tensor& dy, const Tensor& in) { return -(dy * sin(in)); });
}

Tensor erf(const Tensor& x) {
  return real_unary(Unary::erf, x, "erf", Saves::input, [](const Tensor& dy, const Tensor& in) {
    return dy * (exp(-square(in)) * (2 * std::numbers::inv_sqrtpi));
  });
}

}  // namespace strata
