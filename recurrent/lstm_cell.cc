// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/lstm_cell.h"

#include "strata/recurrent/internal/cell_checks.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent {
namespace {

nn::Linear input_map(Index in, Index out, Rngs& rngs, const LSTMOptions& options) {
  return nn::Linear(in, out, rngs,
                    {.use_bias = false,
                     .kernel_init = options.kernel_init,
                     .dtype = options.dtype,
                     .param_dtype = options.param_dtype});
}

nn::Linear hidden_map(Index in, Index out, Rngs& rngs, const LSTMOptions& options) {
  return nn::Linear(in, out, rngs,
                    {.kernel_init = options.recurrent_kernel_init,
                     .bias_init = options.bias_init,
                     .dtype = options.dtype,
                     .param_dtype = options.param_dtype});
}

void check_step(const char* cell, const LSTMCarry& carry, const Tensor& x, Index input, Index hidden) {
  internal::check_input(cell, x, input);
  internal::check_carry(cell, "c", carry.c, x, hidden);
  internal::check_carry(cell, "h", carry.h, x, hidden);
}

// The new carry from the four sums before the gate functions.
Step<LSTMCarry> lstm_step(const LSTMOptions& options, const LSTMCarry& carry, const Tensor& i, const Tensor& f,
                          const Tensor& g, const Tensor& o) {
  const Tensor new_c = (options.gate(f) * carry.c + options.gate(i) * options.activation(g)).astype(carry.c.dtype());
  const Tensor new_h = (options.gate(o) * options.activation(new_c)).astype(carry.h.dtype());
  return {{.c = new_c, .h = new_h}, new_h};
}

LSTMCarry zero_carry(const char* cell, const Shape& input, const Tensor& hidden_kernel) {
  const Tensor zero = zeros(internal::carry_shape(cell, input, hidden_kernel.size(0)), hidden_kernel.dtype());
  return {.c = zero, .h = zero};
}

bool is_standard(const LSTMOptions& options) {
  return options.gate == static_cast<Activation>(sigmoid) &&
         options.activation == static_cast<Activation>(strata::tanh);
}

}  // namespace

LSTMCell::LSTMCell(Index in_features, Index hidden_features, Rngs& rngs, const LSTMOptions& lstm_options)
    : ii{input_map(in_features, internal::gate_columns("LSTMCell", in_features, hidden_features, 1), rngs,
                   lstm_options)},
      if_{input_map(in_features, hidden_features, rngs, lstm_options)},
      ig{input_map(in_features, hidden_features, rngs, lstm_options)},
      io{input_map(in_features, hidden_features, rngs, lstm_options)},
      hi{hidden_map(hidden_features, hidden_features, rngs, lstm_options)},
      hf{hidden_map(hidden_features, hidden_features, rngs, lstm_options)},
      hg{hidden_map(hidden_features, hidden_features, rngs, lstm_options)},
      ho{hidden_map(hidden_features, hidden_features, rngs, lstm_options)},
      options(lstm_options) {
  internal::check_functions("LSTMCell", {options.gate, options.activation});
}

Step<LSTMCarry> LSTMCell::operator()(const Carry& carry, const Tensor& x) const {
  check_step("LSTMCell", carry, x, ii.kernel.value().size(0), hi.kernel.value().size(0));
  return lstm_step(options, carry, ii(x) + hi(carry.h), if_(x) + hf(carry.h), ig(x) + hg(carry.h), io(x) + ho(carry.h));
}

LSTMCarry LSTMCell::initial_carry(const Shape& input) const { return zero_carry("LSTMCell", input, hi.kernel); }

std::optional<internal::FusedCell> LSTMCell::fused() const {
  if (!is_standard(options)) return std::nullopt;
  internal::FusedCell cell{
      .kind = internal::CellKind::lstm, .input = ii.kernel.value().size(0), .hidden = hi.kernel.value().size(0)};
  cell.add_input_maps({&ii, &if_, &ig, &io});
  cell.add_recurrent_maps({&hi, &hf, &hg, &ho});
  return cell;
}

OptimizedLSTMCell::OptimizedLSTMCell(Index in_features, Index hidden_features, Rngs& rngs,
                                     const LSTMOptions& lstm_options)
    : dense_i{input_map(in_features, internal::gate_columns("OptimizedLSTMCell", in_features, hidden_features, 4), rngs,
                        lstm_options)},
      dense_h{hidden_map(hidden_features, 4 * hidden_features, rngs, lstm_options)},
      options(lstm_options) {
  internal::check_functions("OptimizedLSTMCell", {options.gate, options.activation});
}

Step<LSTMCarry> OptimizedLSTMCell::operator()(const Carry& carry, const Tensor& x) const {
  check_step("OptimizedLSTMCell", carry, x, dense_i.kernel.value().size(0), dense_h.kernel.value().size(0));
  const std::vector<Tensor> gates = split_axis(dense_i(x) + dense_h(carry.h), 4, -1);
  return lstm_step(options, carry, gates[0], gates[1], gates[2], gates[3]);
}

LSTMCarry OptimizedLSTMCell::initial_carry(const Shape& input) const {
  return zero_carry("OptimizedLSTMCell", input, dense_h.kernel);
}

std::optional<internal::FusedCell> OptimizedLSTMCell::fused() const {
  if (!is_standard(options)) return std::nullopt;
  internal::FusedCell cell{.kind = internal::CellKind::lstm,
                           .input = dense_i.kernel.value().size(0),
                           .hidden = dense_h.kernel.value().size(0)};
  cell.add_input_maps({&dense_i});
  cell.add_recurrent_maps({&dense_h});
  return cell;
}

}  // namespace strata::recurrent
