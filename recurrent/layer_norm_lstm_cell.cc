// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/layer_norm_lstm_cell.h"

#include "strata/recurrent/internal/cell_checks.h"
#include "strata/recurrent/internal/lstm_parts.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"

namespace strata::recurrent {
namespace {

constexpr const char* name = "LayerNormLSTMCell";

// Without the bias of lstm_hidden_map: what it would add is in that of the norm.
nn::Linear map(Index in, Index out, Rngs& rngs, const LayerNormLSTMOptions& options, const nn::Initializer& init) {
  return nn::Linear(
      in, out, rngs,
      {.use_bias = false, .kernel_init = init, .dtype = options.dtype, .param_dtype = options.param_dtype});
}

}  // namespace

LayerNormLSTMCell::LayerNormLSTMCell(Index in_features, Index hidden_features, Rngs& rngs,
                                     const LayerNormLSTMOptions& lstm_options)
    : dense_i{map(in_features, internal::gate_columns(name, in_features, hidden_features, 4), rngs, lstm_options,
                  lstm_options.kernel_init)},
      dense_h{map(hidden_features, 4 * hidden_features, rngs, lstm_options, lstm_options.recurrent_kernel_init)},
      norm_i{4 * hidden_features,
             rngs,
             {.epsilon = lstm_options.epsilon, .use_bias = false, .param_dtype = lstm_options.param_dtype}},
      norm_h{4 * hidden_features,
             rngs,
             {.epsilon = lstm_options.epsilon,
              .bias_init = lstm_options.bias_init,
              .param_dtype = lstm_options.param_dtype}},
      norm_c{hidden_features, rngs, {.epsilon = lstm_options.epsilon, .param_dtype = lstm_options.param_dtype}},
      options(lstm_options) {
  internal::check_functions(name, {options.gate, options.activation});
}

Step<LSTMCarry> LayerNormLSTMCell::operator()(const Carry& carry, const Tensor& x) const {
  return step_with_h(carry, x, carry.h);
}

Step<LSTMCarry> LayerNormLSTMCell::step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const {
  const Index hidden = dense_h.kernel.value().size(0);
  internal::check_lstm_step(name, carry, x, dense_i.kernel.value().size(0), hidden, hidden);
  const internal::LSTMGates gates = internal::lstm_gates(norm_i(dense_i(x)) + norm_h(dense_h(h)));
  const Tensor c = internal::next_memory({options.gate, options.activation}, gates, carry.c);
  const Tensor new_h = internal::next_output({options.gate, options.activation}, gates, norm_c(c), carry.h);
  return {{.c = c, .h = new_h}, new_h};
}

LSTMCarry LayerNormLSTMCell::initial_carry(const Shape& input) const {
  const Tensor& kernel = dense_h.kernel;
  const Tensor zero = zeros(internal::carry_shape(name, input, kernel.size(0)), kernel.dtype());
  return {.c = zero, .h = zero};
}

}  // namespace strata::recurrent
