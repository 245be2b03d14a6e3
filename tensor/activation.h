// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/reduce.h"
#include "strata/tensor/tensor.h"

// Functions at the joints of networks; all differentiable. Integers and bool give float64 (JAX: float32), save in relu,
// which keeps integers.
namespace strata {

[[nodiscard]] Tensor sigmoid(const Tensor& x);  // 1 / (1 + exp(-x))
[[nodiscard]] Tensor tanh(const Tensor& x);
[[nodiscard]] Tensor relu(const Tensor& x);  // max(x, 0); gradient 0 at 0; NaN stays NaN

// exp(x) / sum(exp(x)) along an axis, and its logarithm, without overflow. Throw ShapeError if the axis does not exist.
[[nodiscard]] Tensor softmax(const Tensor& x, int axis = -1);
[[nodiscard]] Tensor log_softmax(const Tensor& x, int axis = -1);

// log(sum(exp(x))) over some axes, without overflow; -inf of no elements.
[[nodiscard]] Tensor logsumexp(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});

}  // namespace strata
