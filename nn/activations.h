// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/activation.h"
#include "strata/tensor/tensor.h"

// Activation functions, element by element unless said otherwise; all differentiable. Element types are those of the
// operations that they are made of: integers and bool give float64 where the function is one of real numbers (JAX:
// float32). NaN stays NaN. Values and gradients, also at the corners, are those of flax.nnx 0.12.
namespace strata::nn {

using strata::log_softmax;
using strata::logsumexp;
using strata::relu;
using strata::sigmoid;
using strata::softmax;
using strata::tanh;

[[nodiscard]] Tensor identity(const Tensor& x);

[[nodiscard]] Tensor relu6(const Tensor& x);         // min(max(x, 0), 6); gradient 0 at 0 and 6
[[nodiscard]] Tensor hard_sigmoid(const Tensor& x);  // relu6(x + 3) / 6; gradient 0 at -3 and 3
[[nodiscard]] Tensor hard_tanh(const Tensor& x);     // x limited to [-1, 1]; gradient 1 at -1 and 1
[[nodiscard]] Tensor hard_silu(const Tensor& x);     // x hard_sigmoid(x)

[[nodiscard]] Tensor silu(const Tensor& x);         // x sigmoid(x)
[[nodiscard]] Tensor softplus(const Tensor& x);     // log(1 + exp(x)), without overflow
[[nodiscard]] Tensor log_sigmoid(const Tensor& x);  // log(sigmoid(x)), without overflow
[[nodiscard]] Tensor soft_sign(const Tensor& x);    // x / (1 + |x|)

// x P(N(0, 1) < x), in the approximation x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, and exactly.
// Hendrycks and Gimpel, "Gaussian error linear units" (2016).
[[nodiscard]] Tensor gelu(const Tensor& x);
[[nodiscard]] Tensor exact_gelu(const Tensor& x);

// x where it is not negative, negative_slope x elsewhere. Gradient 1 at 0.
[[nodiscard]] Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);

// x where it is positive; elsewhere alpha (exp(x) - 1) for elu, alpha (exp(x / alpha) - 1) for celu. Their gradients at
// 0 are alpha and 1. selu is scale elu(x, alpha) with the constants 1.0507 and 1.6733 that keep mean 0 and variance 1.
// Clevert et al. (2015); Barron (2017); Klambauer et al. (2017).
[[nodiscard]] Tensor elu(const Tensor& x, double alpha = 1);
[[nodiscard]] Tensor celu(const Tensor& x, double alpha = 1);
[[nodiscard]] Tensor selu(const Tensor& x);

// The first half of x along an axis times the sigmoid of the second. Throws ShapeError if the size is odd.
[[nodiscard]] Tensor glu(const Tensor& x, int axis = -1);

// (x - mean) / sqrt(variance + epsilon), with the mean and biased variance along an axis. Throws ShapeError if there is
// no such axis.
[[nodiscard]] Tensor standardize(const Tensor& x, int axis = -1, double epsilon = 1e-5);

}  // namespace strata::nn
