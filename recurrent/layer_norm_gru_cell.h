// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/nn/layer_norm.h"
#include "strata/nn/linear.h"
#include "strata/recurrent/carry.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/state/rngs.h"

namespace strata::recurrent {

struct LayerNormGRUOptions {
  double epsilon = 1e-6;
  Activation gate = sigmoid;
  Activation activation = strata::tanh;
  nn::Initializer kernel_init = nn::initializers::lecun_normal();
  nn::Initializer recurrent_kernel_init = nn::initializers::orthogonal();
  nn::Initializer bias_init = nn::initializers::zeros();
  std::optional<DType> dtype = {};  // to form products in; by default the promoted type of their factors
  DType param_dtype = DType::float32;
  bool operator==(const LayerNormGRUOptions&) const = default;
};

// A GRU that resets after the product, with layer normalisation of both products:
//
//   (r, z) = gate(LN(x Wi) + LN(h Wh) + b)
//   n = activation(LN(x Win) + r LN(h Whn))       h' = (1 - z) n + z h
//
// Each LN has a scale of its own; those of r and z are taken over both gates together, and their biases are one, that
// of norm_gates_h. The norms of n have a bias each, as the reset gate stands between.
//
// Source: Ba, Kiros and Hinton, "Layer normalization" (2016), the GRU of the supplementary material, where z
// means 1 - z.
struct LayerNormGRUCell {
  using Carry = HiddenCarry;
  static constexpr int num_feature_axes = 1;

  // dense_i has a kernel [in_features, 3 hidden_features], columns r, z, n; dense_h a kernel [hidden_features, 3
  // hidden_features]. The layers draw from the stream `params` in the order of the fields; `bias_init` is that of all
  // norms. Throws ShapeError if a size is not positive or too large, ValueError if a function is null or epsilon
  // negative.
  LayerNormGRUCell(Index in_features, Index hidden_features, Rngs& rngs, const LayerNormGRUOptions& gru_options = {});

  // One step. x is [*batch, in_features]; returns the new carry and its h.
  // Throws ShapeError, naming argument, shape and expected shape, if a feature axis or the batch axes do not fit.
  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) const;

  // The same with another h, of the same shape, in the products with recurrent kernels.
  [[nodiscard]] Step<Carry> step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const;

  // Zeros of [*batch, hidden_features] for inputs of shape [*batch, in_features].
  [[nodiscard]] Carry initial_carry(const Shape& input) const;

  nn::Linear dense_i;          // without bias
  nn::Linear dense_h;          // without bias
  nn::LayerNorm norm_gates_i;  // a scale [2 hidden_features]
  nn::LayerNorm norm_gates_h;  // scale and bias [2 hidden_features]
  nn::LayerNorm norm_n_i;      // scale and bias [hidden_features]
  nn::LayerNorm norm_n_h;      // likewise
  LayerNormGRUOptions options;

  STRATA_FIELDS(dense_i, dense_h, norm_gates_i, norm_gates_h, norm_n_i, norm_n_h, options)
};

}  // namespace strata::recurrent
