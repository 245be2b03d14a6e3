// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/activations.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "strata/nn/internal/layer.h"
#include "strata/nn/internal/normalize.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/axes.h"
#include "strata/tensor/manipulate.h"

namespace strata::nn {
namespace {

// The constants of selu: Klambauer et al., "Self-normalizing neural networks" (2017).
constexpr double selu_alpha = 1.6732632423543772848170429916717;
constexpr double selu_scale = 1.0507009873554804934193349852946;

Tensor gelu_with(const Tensor& x, const Tensor& twice_cdf) { return x * (twice_cdf * 0.5); }

// x where the exponential branch of the functions of the elu family is chosen, 0 elsewhere: what is not chosen must not
// overflow, since its gradient would be 0 times infinity.
Tensor not_positive(const Tensor& x) { return where(x > 0, 0, x); }

}  // namespace

Tensor identity(const Tensor& x) { return x; }

Tensor relu6(const Tensor& x) {
  return differentiable(minimum(maximum(stop_gradient(x), 0), 6), {x}, [x](const Tensor& dy) {
    return std::vector<Cotangent>{where(logical_and(x > 0, x < 6), dy, 0)};
  });
}

Tensor hard_sigmoid(const Tensor& x) { return relu6(x + 3) / 6; }

Tensor hard_tanh(const Tensor& x) { return clip(x, -1, 1); }

Tensor hard_silu(const Tensor& x) { return x * hard_sigmoid(x); }

Tensor silu(const Tensor& x) {
  const Tensor gate = sigmoid(stop_gradient(x));
  return differentiable(stop_gradient(x) * gate, {x}, [x, gate](const Tensor& dy) {
    return std::vector<Cotangent>{dy * (gate * (1 + x * (1 - gate)))};
  });
}

Tensor softplus(const Tensor& x) {
  const Tensor plain = stop_gradient(x);
  return differentiable(maximum(plain, 0) + log1p(exp(-abs(plain))), {x},
                        [plain](const Tensor& dy) { return std::vector<Cotangent>{dy * sigmoid(plain)}; });
}

Tensor log_sigmoid(const Tensor& x) { return -softplus(-x); }

// The gradient by the chain of the formula would be a difference of numbers that are almost equal where |x| is large.
Tensor soft_sign(const Tensor& x) {
  const Tensor plain = stop_gradient(x);
  const Tensor size = 1 + abs(plain);
  return differentiable(plain / size, {x},
                        [size](const Tensor& dy) { return std::vector<Cotangent>{dy / size / size}; });
}

Tensor gelu(const Tensor& x) {
  const double factor = std::sqrt(2 / std::numbers::pi);
  return gelu_with(x, 1 + tanh(factor * (x * (1 + 0.044715 * square(x)))));
}

Tensor exact_gelu(const Tensor& x) { return gelu_with(x, 1 + erf(x * (1 / std::numbers::sqrt2))); }

Tensor leaky_relu(const Tensor& x, double negative_slope) { return where(x >= 0, x, x * negative_slope); }

Tensor elu(const Tensor& x, double alpha) { return where(x > 0, x, alpha * expm1(not_positive(x))); }

Tensor celu(const Tensor& x, double alpha) { return where(x > 0, x, alpha * expm1(not_positive(x) / alpha)); }

Tensor selu(const Tensor& x) { return selu_scale * elu(x, selu_alpha); }

Tensor glu(const Tensor& x, int axis) {
  const std::vector<Tensor> halves = split_axis(x, 2, axis);
  return halves[0] * sigmoid(halves[1]);
}

Tensor standardize(const Tensor& x, int axis, double epsilon) {
  const int position = x.shape().normalize_axis(axis, "standardize");
  const DType result = internal::layer_dtype(std::nullopt, {&x}, "standardize");
  return internal::normalize(x.astype(promote(result, DType::float32)), {.axes = {position}, .epsilon = epsilon})
      .y.astype(result);
}

}  // namespace strata::nn
