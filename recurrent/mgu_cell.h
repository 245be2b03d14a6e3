// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/nn/initializers.h"
#include "strata/nn/linear.h"
#include "strata/recurrent/carry.h"
#include "strata/recurrent/cell.h"
#include "strata/state/rngs.h"

namespace strata::recurrent {

struct MGUOptions {
  bool reset_gate = true;  // the gate scales the state's part of n, too
  Activation gate = sigmoid;
  Activation activation = strata::tanh;
  nn::Initializer kernel_init = nn::initializers::lecun_normal();
  nn::Initializer recurrent_kernel_init = nn::initializers::orthogonal();
  nn::Initializer bias_init = nn::initializers::zeros();
  nn::Initializer forget_bias_init = nn::initializers::ones();
  std::optional<DType> dtype = {};  // to form products in; by default the promoted type of their factors
  DType param_dtype = DType::float32;
  bool operator==(const MGUOptions&) const = default;
};

// Minimal gated unit, one step at a time: a GRU whose one gate does the work of both.
//
//   f = gate(x if_ + h hf)
//   n = activation(x in + f (h hn))      or, without `reset_gate`, activation(x in + h hn)
//   h' = (1 - f) n + f h
//
// Products of gates are elementwise. The maps if_, in and, with `reset_gate`, hn carry a bias.
//
// Source: Heck and Salem (2017). Paths and values agree with flax.linen.MGUCell 0.12, whose map `if` is if_ here.
struct MGUCell {
  using Carry = HiddenCarry;
  static constexpr int num_feature_axes = 1;

  // Kernels `i*` are [in_features, hidden_features], kernels `h*` [hidden_features, hidden_features]; each layer draws
  // from the stream `params` for its kernel and, if it has one, its bias, in the order of the fields. Throws ShapeError
  // if a size is not positive or too large, ValueError if a function is null.
  MGUCell(Index in_features, Index hidden_features, Rngs& rngs, const MGUOptions& mgu_options = {});

  // One step. x is [*batch, in_features]; returns the new carry and its h.
  // Throws ShapeError, naming argument, shape and expected shape, if a feature axis or the batch axes do not fit.
  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) const;

  // The same with another h, of the same shape, in the products with recurrent kernels.
  [[nodiscard]] Step<Carry> step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const;

  // Zeros of [*batch, hidden_features] for inputs of shape [*batch, in_features].
  [[nodiscard]] Carry initial_carry(const Shape& input) const;

  nn::Linear if_, in;
  nn::Linear hf, hn;
  MGUOptions options;

  STRATA_FIELDS(if_, in, hf, hn, options)
};

}  // namespace strata::recurrent
