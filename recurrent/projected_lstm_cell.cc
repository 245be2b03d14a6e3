// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/projected_lstm_cell.h"

#include "strata/nn/internal/layer.h"
#include "strata/recurrent/internal/cells/cell_checks.h"
#include "strata/recurrent/internal/cells/lstm_parts.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"

namespace strata::recurrent {
namespace {

constexpr const char* name = "ProjectedLSTMCell";

Index columns(Index hidden_features, Index projection_features) {
  nn::internal::check_positive(projection_features, "projection_features", name);
  return internal::gate_columns(name, projection_features, hidden_features, 4);
}

}  // namespace

ProjectedLSTMCell::ProjectedLSTMCell(Index in_features, Index hidden_features, Index projection_features, Rngs& rngs,
                                     const LSTMOptions& lstm_options)
    : dense_i{internal::lstm_input_map(in_features, internal::gate_columns(name, in_features, hidden_features, 4), rngs,
                                       lstm_options)},
      dense_h{internal::lstm_hidden_map(projection_features, columns(hidden_features, projection_features), rngs,
                                        lstm_options)},
      projection{internal::lstm_input_map(hidden_features, projection_features, rngs, lstm_options)},
      options(lstm_options) {
  internal::check_functions(name, {options.gate, options.activation});
}

Step<LSTMCarry> ProjectedLSTMCell::operator()(const Carry& carry, const Tensor& x) const {
  return step_with_h(carry, x, carry.h);
}

Step<LSTMCarry> ProjectedLSTMCell::step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const {
  const Tensor& kernel = projection.kernel;
  internal::check_lstm_step(name, carry, x, dense_i.kernel.value().size(0), kernel.size(0), kernel.size(1));
  const internal::LSTMGates gates = internal::lstm_gates(dense_i(x) + dense_h(h));
  const Tensor c = internal::next_memory({options.gate, options.activation}, gates, carry.c);
  const Tensor new_h =
      projection(internal::next_output({options.gate, options.activation}, gates, c, carry.h)).astype(carry.h.dtype());
  return {{.c = c, .h = new_h}, new_h};
}

LSTMCarry ProjectedLSTMCell::initial_carry(const Shape& input) const {
  const Tensor& kernel = projection.kernel;
  return {.c = zeros(internal::carry_shape(name, input, kernel.size(0)), kernel.dtype()),
          .h = zeros(internal::carry_shape(name, input, kernel.size(1)), kernel.dtype())};
}

}  // namespace strata::recurrent
