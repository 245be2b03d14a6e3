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

struct SimpleCellOptions {
  Activation activation = strata::tanh;
  bool residual = false;  // adds h itself before the activation
  nn::Initializer kernel_init = nn::initializers::lecun_normal();
  nn::Initializer recurrent_kernel_init = nn::initializers::orthogonal();
  nn::Initializer bias_init = nn::initializers::zeros();
  std::optional<DType> dtype = {};  // to form products in; by default the promoted type of their factors
  DType param_dtype = DType::float32;
  bool operator==(const SimpleCellOptions&) const = default;
};

// The simple recurrent cell:  h' = activation(x Wi + bi + h Wh), or with `residual` activation(x Wi + bi + h Wh + h).
//
// Source: Elman (1990). Paths and values agree with flax.nnx.SimpleCell 0.12, which draws for dense_h first.
struct SimpleCell {
  using Carry = HiddenCarry;
  static constexpr int num_feature_axes = 1;

  // dense_i has a kernel [in_features, hidden_features] and a bias; dense_h a kernel [hidden_features,
  // hidden_features]. Both draw from the stream `params`, dense_h first. Throws ShapeError if a size is not
  // positive or too large, ValueError if the function is null.
  SimpleCell(Index in_features, Index hidden_features, Rngs& rngs, const SimpleCellOptions& cell_options = {});

  // One step. x is [*batch, in_features]; returns the new carry and its h.
  // Throws ShapeError, naming argument, shape and expected shape, if a feature axis or the batch axes do not fit.
  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) const;

  // The same with another h, of the same shape, in the products with recurrent kernels.
  [[nodiscard]] Step<Carry> step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const;

  // Zeros of [*batch, hidden_features] for inputs of shape [*batch, in_features].
  [[nodiscard]] Carry initial_carry(const Shape& input) const;

  // How the fused operation runs this cell; empty if its activation is neither tanh nor relu.
  [[nodiscard]] std::optional<internal::FusedCell> fused() const;

  nn::Linear dense_h;
  nn::Linear dense_i;
  SimpleCellOptions options;

  STRATA_FIELDS(dense_h, dense_i, options)
};

}  // namespace strata::recurrent
