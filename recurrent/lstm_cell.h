// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/nn/initializers.h"
#include "strata/nn/linear.h"
#include "strata/recurrent/carry.h"
#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/scan/fused.h"
#include "strata/state/rngs.h"

namespace strata::recurrent {

struct LSTMOptions {
  Activation gate = sigmoid;
  Activation activation = strata::tanh;
  nn::Initializer kernel_init = nn::initializers::lecun_normal();
  nn::Initializer recurrent_kernel_init = nn::initializers::orthogonal();
  nn::Initializer bias_init = nn::initializers::zeros();
  std::optional<DType> dtype = {};  // to form products in; by default the promoted type of their factors
  DType param_dtype = DType::float32;
  bool operator==(const LSTMOptions&) const = default;
};

// Long short-term memory, one step at a time:
//
//   i = gate(x ii + h hi)        f = gate(x if_ + h hf)
//   g = activation(x ig + h hg)  o = gate(x io + h ho)
//   c' = f c + i g               h' = o activation(c')
//
// Products of gates are elementwise. Only the four hidden maps carry a bias: two biases that are always summed are one.
// The forget gate gets no extra bias. Eight separate maps keep the paths of Flax; over sequences both LSTM cells run
// equally fast.
//
// Source: Hochreiter and Schmidhuber (1997), forget gate by Gers, Schmidhuber and Cummins (2000). Paths and values
// agree with flax.nnx.LSTMCell 0.12.
struct LSTMCell {
  using Carry = LSTMCarry;
  static constexpr int num_feature_axes = 1;

  // Kernels `i*` are [in_features, hidden_features], kernels `h*` [hidden_features, hidden_features]; each layer draws
  // from the stream `params` for its kernel and, if it has one, its bias, in the order of the fields. Throws ShapeError
  // if a size is not positive or too large, ValueError if a function is null.
  LSTMCell(Index in_features, Index hidden_features, Rngs& rngs, const LSTMOptions& lstm_options = {});

  // One step. x is [*batch, in_features]; returns the new carry and its h. `carry` is left as it was.
  // Throws ShapeError, naming argument, shape and expected shape, if a feature axis or the batch axes do not fit.
  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) const;

  // The same with another h, of the same shape, in the products with recurrent kernels.
  [[nodiscard]] Step<Carry> step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const;

  // Zeros of [*batch, hidden_features] for inputs of shape [*batch, in_features].
  [[nodiscard]] Carry initial_carry(const Shape& input) const;

  // How the fused operation runs this cell; empty if its activations are not the standard ones.
  [[nodiscard]] std::optional<internal::FusedCell> fused() const;

  nn::Linear ii, if_, ig, io;  // input maps, without bias
  nn::Linear hi, hf, hg, ho;   // hidden maps, with bias
  LSTMOptions options;

  STRATA_FIELDS(ii, if_, ig, io, hi, hf, hg, ho, options)
};

// The same mathematics as LSTMCell with one map for all gates on each side, columns in the order i, f, g, o.
// Paths and values agree with flax.nnx.OptimizedLSTMCell 0.12.
struct OptimizedLSTMCell {
  using Carry = LSTMCarry;
  static constexpr int num_feature_axes = 1;

  // dense_i has a kernel [in_features, 4 hidden_features]; dense_h a kernel [hidden_features, 4 hidden_features] and a
  // bias. Errors are those of LSTMCell.
  OptimizedLSTMCell(Index in_features, Index hidden_features, Rngs& rngs, const LSTMOptions& lstm_options = {});

  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) const;
  [[nodiscard]] Step<Carry> step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const;
  [[nodiscard]] Carry initial_carry(const Shape& input) const;
  [[nodiscard]] std::optional<internal::FusedCell> fused() const;

  nn::Linear dense_i;
  nn::Linear dense_h;
  LSTMOptions options;

  STRATA_FIELDS(dense_i, dense_h, options)
};

}  // namespace strata::recurrent
