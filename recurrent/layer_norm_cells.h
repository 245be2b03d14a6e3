// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/nn/initializers.h"
#include "strata/nn/layer_norm.h"
#include "strata/nn/linear.h"
#include "strata/recurrent/carry.h"
#include "strata/recurrent/cell.h"
#include "strata/state/rngs.h"

// Cells with layer normalisation inside.
namespace strata::recurrent {

struct LayerNormCellOptions {
  double epsilon = 1e-6;
  Activation gate = sigmoid;
  Activation activation = strata::tanh;
  nn::Initializer kernel_init = nn::initializers::lecun_normal();
  nn::Initializer recurrent_kernel_init = nn::initializers::orthogonal();
  nn::Initializer bias_init = nn::initializers::zeros();
  std::optional<DType> dtype = {};  // to form products in; by default the promoted type of their factors
  DType param_dtype = DType::float32;
  bool operator==(const LayerNormCellOptions&) const = default;
};

// An LSTM with layer normalisation of both products and of the memory where it is put out:
//
//   (i, f, g, o) = LN(x Wi) + LN(h Wh) + b
//   c' = gate(f) c + gate(i) activation(g)        h' = gate(o) activation(LN(c'))
//
// Each LN has a scale of its own and is taken over all gates of a product together. The biases of the first two are
// always summed with b and are one with it: the bias of norm_h. The memory that is carried on is not normalised.
//
// Source: Ba, Kiros and Hinton, "Layer normalization" (2016), the LSTM of the supplementary material.
// (TensorFlow's LayerNormBasicLSTMCell normalises gate by gate, PyTorch's example cell also the carried memory.)
struct LayerNormLSTMCell {
  using Carry = LSTMCarry;
  static constexpr int num_feature_axes = 1;

  // dense_i has a kernel [in_features, 4 hidden_features], columns i, f, g, o; dense_h a kernel [hidden_features, 4
  // hidden_features]. The layers draw from the stream `params` in the order of the fields; `bias_init` is that of
  // norm_h. Throws ShapeError if a size is not positive or too large, ValueError if a function is null or epsilon
  // negative.
  LayerNormLSTMCell(Index in_features, Index hidden_features, Rngs& rngs,
                    const LayerNormCellOptions& cell_options = {});

  // One step. x is [*batch, in_features]; returns the new carry and its h.
  // Throws ShapeError, naming argument, shape and expected shape, if a feature axis or the batch axes do not fit.
  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) const;

  // The same with another h, of the same shape, in the products with recurrent kernels.
  [[nodiscard]] Step<Carry> step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const;

  // Zeros of [*batch, hidden_features] for inputs of shape [*batch, in_features].
  [[nodiscard]] Carry initial_carry(const Shape& input) const;

  nn::Linear dense_i;    // without bias
  nn::Linear dense_h;    // without bias
  nn::LayerNorm norm_i;  // a scale [4 hidden_features]
  nn::LayerNorm norm_h;  // scale and bias [4 hidden_features]
  nn::LayerNorm norm_c;  // scale and bias [hidden_features]
  LayerNormCellOptions options;

  STRATA_FIELDS(dense_i, dense_h, norm_i, norm_h, norm_c, options)
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
  LayerNormGRUCell(Index in_features, Index hidden_features, Rngs& rngs, const LayerNormCellOptions& cell_options = {});

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
  LayerNormCellOptions options;

  STRATA_FIELDS(dense_i, dense_h, norm_gates_i, norm_gates_h, norm_n_i, norm_n_h, options)
};

}  // namespace strata::recurrent
