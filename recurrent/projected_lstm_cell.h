// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/nn/linear.h"
#include "strata/recurrent/carry.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/state/rngs.h"

namespace strata::recurrent {

// An LSTM whose output is a linear map of its memory, narrower than it, so that the recurrent kernels are small:
//
//   i, f, g, o   as in LSTMCell, from x and h
//   c' = f c + i g               [*batch, hidden]
//   h' = (o activation(c')) P    [*batch, projection]
//
// Source: Sak, Senior and Beaufays (2014), without peepholes; values agree with torch.nn.LSTM with proj_size.
struct ProjectedLSTMCell {
  using Carry = LSTMCarry;  // h is [*batch, projection_features]
  static constexpr int num_feature_axes = 1;

  // dense_i has a kernel [in_features, 4 hidden_features], columns i, f, g, o; dense_h a kernel [projection_features, 4
  // hidden_features] and a bias; projection a kernel [hidden_features, projection_features]. They draw from the stream
  // `params`, in this order. Throws ShapeError if a size is not positive or too large, ValueError if a function is
  // null.
  ProjectedLSTMCell(Index in_features, Index hidden_features, Index projection_features, Rngs& rngs,
                    const LSTMOptions& lstm_options = {});

  // One step. x is [*batch, in_features]; returns the new carry and its h.
  // Throws ShapeError, naming argument, shape and expected shape, if a feature axis or the batch axes do not fit.
  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) const;

  // The same with another h, of the same shape, in the products with recurrent kernels.
  [[nodiscard]] Step<Carry> step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const;

  // Zeros for inputs of shape [*batch, in_features].
  [[nodiscard]] Carry initial_carry(const Shape& input) const;

  nn::Linear dense_i;
  nn::Linear dense_h;
  nn::Linear projection;
  LSTMOptions options;

  STRATA_FIELDS(dense_i, dense_h, projection, options)
};

}  // namespace strata::recurrent
