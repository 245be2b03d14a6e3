// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/nn/initializers.h"
#include "strata/nn/linear.h"
#include "strata/recurrent/carry.h"
#include "strata/recurrent/cell.h"
#include "strata/state/rngs.h"
#include "strata/state/variable.h"

namespace strata::recurrent {

struct PeepholeLSTMOptions {
  Activation gate = sigmoid;
  Activation activation = strata::tanh;
  nn::Initializer kernel_init = nn::initializers::lecun_normal();
  nn::Initializer recurrent_kernel_init = nn::initializers::orthogonal();
  nn::Initializer bias_init = nn::initializers::zeros();
  nn::Initializer peephole_init = nn::initializers::zeros();
  std::optional<DType> dtype = {};  // to form products in; by default the promoted type of their factors
  DType param_dtype = DType::float32;
  bool operator==(const PeepholeLSTMOptions&) const = default;
};

// An LSTM whose gates see the memory too, each unit its own; the output gate sees the new one:
//
//   (ai, af, ag, ao) = x dense_i + h dense_h
//   i = gate(ai + ci c)                   f = gate(af + cf c)
//   c' = f c + i activation(ag)
//   o = gate(ao + co c')                  h' = o activation(c')
//
// Products of gates, and those with the peepholes ci, cf and co, are elementwise.
//
// Source: Gers and Schmidhuber, "Recurrent nets that time and count" (2000); gradients are not cut off at the peepholes.
// Values agree with the operator LSTM of ONNX with P.
struct PeepholeLSTMCell {
  using Carry = LSTMCarry;
  static constexpr int num_feature_axes = 1;

  // dense_i has a kernel [in_features, 4 hidden_features], columns i, f, g, o; dense_h a kernel [hidden_features, 4
  // hidden_features] and a bias. They and the peepholes draw from the stream `params` in the order of the fields.
  // Throws ShapeError if a size is not positive or too large, ValueError if a function is null.
  PeepholeLSTMCell(Index in_features, Index hidden_features, Rngs& rngs, const PeepholeLSTMOptions& lstm_options = {});

  // One step. x is [*batch, in_features]; returns the new carry and its h.
  // Throws ShapeError, naming argument, shape and expected shape, if a feature axis or the batch axes do not fit.
  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) const;

  // The same with another h, of the same shape, in the products with recurrent kernels.
  [[nodiscard]] Step<Carry> step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const;

  // Zeros of [*batch, hidden_features] for inputs of shape [*batch, in_features].
  [[nodiscard]] Carry initial_carry(const Shape& input) const;

  nn::Linear dense_i;
  nn::Linear dense_h;
  Param ci, cf, co;  // peepholes, [hidden_features]
  PeepholeLSTMOptions options;

  STRATA_FIELDS(dense_i, dense_h, ci, cf, co, options)
};

}  // namespace strata::recurrent
