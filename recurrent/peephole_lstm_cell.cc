// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/peephole_lstm_cell.h"

#include "strata/nn/internal/layer.h"
#include "strata/recurrent/internal/cells/cell_checks.h"
#include "strata/recurrent/internal/cells/lstm_parts.h"
#include "strata/tensor/arithmetic.h"

namespace strata::recurrent {
namespace {

constexpr const char* name = "PeepholeLSTMCell";

LSTMOptions options_of_maps(const PeepholeLSTMOptions& options) {
  return {.kernel_init = options.kernel_init,
          .recurrent_kernel_init = options.recurrent_kernel_init,
          .bias_init = options.bias_init,
          .dtype = options.dtype,
          .param_dtype = options.param_dtype};
}

Param peephole(Index hidden_features, Rngs& rngs, const PeepholeLSTMOptions& options) {
  return nn::internal::make_param(options.peephole_init, rngs, {hidden_features}, options.param_dtype);
}

}  // namespace

PeepholeLSTMCell::PeepholeLSTMCell(Index in_features, Index hidden_features, Rngs& rngs,
                                   const PeepholeLSTMOptions& lstm_options)
    : dense_i{internal::lstm_input_map(in_features, internal::gate_columns(name, in_features, hidden_features, 4), rngs,
                                       options_of_maps(lstm_options))},
      dense_h{internal::lstm_hidden_map(hidden_features, 4 * hidden_features, rngs, options_of_maps(lstm_options))},
      ci{peephole(hidden_features, rngs, lstm_options)},
      cf{peephole(hidden_features, rngs, lstm_options)},
      co{peephole(hidden_features, rngs, lstm_options)},
      options(lstm_options) {
  internal::check_functions(name, {options.gate, options.activation});
}

Step<LSTMCarry> PeepholeLSTMCell::operator()(const Carry& carry, const Tensor& x) const {
  return step_with_h(carry, x, carry.h);
}

Step<LSTMCarry> PeepholeLSTMCell::step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const {
  const Index hidden = dense_h.kernel.value().size(0);
  internal::check_lstm_step(name, carry, x, dense_i.kernel.value().size(0), hidden, hidden);
  internal::LSTMGates gates = internal::lstm_gates(dense_i(x) + dense_h(h));
  gates.i = gates.i + ci * carry.c;
  gates.f = gates.f + cf * carry.c;
  const Tensor c = internal::next_memory({options.gate, options.activation}, gates, carry.c);
  gates.o = gates.o + co * c;
  const Tensor new_h = internal::next_output({options.gate, options.activation}, gates, c, carry.h);
  return {{.c = c, .h = new_h}, new_h};
}

LSTMCarry PeepholeLSTMCell::initial_carry(const Shape& input) const {
  return internal::zero_lstm_carry(name, input, dense_h.kernel);
}

}  // namespace strata::recurrent
