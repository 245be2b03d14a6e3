// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/activation.h"

#include <utility>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/axes.h"
#include "strata/tensor/internal/operands.h"
#include "strata/tensor/internal/reduce.h"
#include "strata/tensor/internal/unary.h"

namespace strata {
namespace {

using internal::real_unary;
using internal::Saves;
using internal::Unary;

constexpr ReduceOptions keep{.keep_dims = true};

// Calls f in a floating type that is computed in, and returns the result in the type of x if that is floating.
template <class F>
Tensor compute_floating(const Tensor& x, F f) {
  const DType result = is_floating(x.dtype()) ? x.dtype() : DType::float64;
  return f(x.astype(computing_dtype(result))).astype(result);
}

// The largest element, to be subtracted before exp; 0 where it is infinite, so that infinities do not turn into NaN.
Tensor finite_max(const Tensor& x, const Axes& axes) {
  const Tensor largest = max(x, axes, keep);
  return where(is_finite(largest), largest, 0);
}

Tensor softmax_values(const Tensor& x, int axis) {
  Tensor y = exp(x - max(x, axis, keep));
  y /= sum(y, axis, keep);
  return y;
}

Tensor log_softmax_values(const Tensor& x, int axis) {
  Tensor y = x - max(x, axis, keep);
  y -= log(sum(exp(y), axis, keep));
  return y;
}

}  // namespace

Tensor sigmoid(const Tensor& x) {
  return real_unary(Unary::sigmoid, x, "sigmoid", Saves::output,
                    [](const Tensor& dy, const Tensor& y) { return dy * (y * (1 - y)); });
}

Tensor tanh(const Tensor& x) {
  return real_unary(Unary::tanh, x, "tanh", Saves::output,
                    [](const Tensor& dy, const Tensor& y) { return dy * (1 - y * y); });
}

Tensor relu(const Tensor& x) {
  return internal::unary(Unary::relu, x, "relu", Saves::output,
                         [](const Tensor& dy, const Tensor& y) { return where(y > 0, dy, 0); });
}

Tensor softmax(const Tensor& x, int axis) {
  const int position = x.shape().normalize_axis(axis, "softmax");
  if (x.size() == 0) return compute_floating(x, [](const Tensor& floating) { return floating; });
  return compute_floating(x, [position](const Tensor& in) {
    Tensor y = softmax_values(stop_gradient(in), position);
    if (!in.is_tracked()) return y;
    return differentiable(y, {in}, [y, position](const Tensor& dy) {
      const Tensor weighted = dy * y;
      return std::vector<Cotangent>{weighted - y * sum(weighted, position, keep)};
    });
  });
}

Tensor log_softmax(const Tensor& x, int axis) {
  const int position = x.shape().normalize_axis(axis, "log_softmax");
  if (x.size() == 0) return compute_floating(x, [](const Tensor& floating) { return floating; });
  return compute_floating(x, [position](const Tensor& in) {
    Tensor y = log_softmax_values(stop_gradient(in), position);
    if (!in.is_tracked()) return y;
    return differentiable(y, {in}, [y, position](const Tensor& dy) {
      return std::vector<Cotangent>{dy - exp(y) * sum(dy, position, keep)};
    });
  });
}

Tensor logsumexp(const Tensor& x, const Axes& axes, ReduceOptions options) {
  return compute_floating(x, [&](const Tensor& in) {
    const internal::Reduction reduction(in.shape(), axes, "logsumexp");
    if (reduction.count == 0) return log(sum(in, axes, options));
    const Tensor plain = stop_gradient(in);
    const Tensor largest = finite_max(plain, axes);
    const Tensor kept = log(sum(exp(plain - largest), axes, keep)) + largest;
    Tensor result = kept.reshape(reduction.result(options));
    if (!in.is_tracked()) return result;
    return differentiable(std::move(result), {in}, [plain, kept](const Tensor& dy) {
      return std::vector<Cotangent>{dy.reshape(kept.shape()) * exp(plain - kept)};
    });
  });
}

}  // namespace strata
