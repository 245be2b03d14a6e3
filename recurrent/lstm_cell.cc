// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/lstm_cell.h"

#include "strata/recurrent/internal/cells/cell_checks.h"
#include "strata/recurrent/internal/cells/lstm_parts.h"

namespace strata::recurrent {
namespace {

Step<LSTMCarry> lstm_step(const LSTMOptions& options, const LSTMCarry& carry, const internal::LSTMGates& gates) {
  const Tensor c = internal::next_memory({options.gate, options.activation}, gates, carry.c);
  const Tensor h = internal::next_output({options.gate, options.activation}, gates, c, carry.h);
  return {{.c = c, .h = h}, h};
}

bool is_standard(const LSTMOptions& options) {
  return options.gate == static_cast<Activation>(sigmoid) &&
         options.activation == static_cast<Activation>(strata::tanh);
}

}  // namespace

LSTMCell::LSTMCell(Index in_features, Index hidden_features, Rngs& rngs, const LSTMOptions& lstm_options)
    : ii{internal::lstm_input_map(in_features, internal::gate_columns("LSTMCell", in_features, hidden_features, 1),
                                  rngs, lstm_options)},
      if_{internal::lstm_input_map(in_features, hidden_features, rngs, lstm_options)},
      ig{internal::lstm_input_map(in_features, hidden_features, rngs, lstm_options)},
      io{internal::lstm_input_map(in_features, hidden_features, rngs, lstm_options)},
      hi{internal::lstm_hidden_map(hidden_features, hidden_features, rngs, lstm_options)},
      hf{internal::lstm_hidden_map(hidden_features, hidden_features, rngs, lstm_options)},
      hg{internal::lstm_hidden_map(hidden_features, hidden_features, rngs, lstm_options)},
      ho{internal::lstm_hidden_map(hidden_features, hidden_features, rngs, lstm_options)},
      options(lstm_options) {
  internal::check_functions("LSTMCell", {options.gate, options.activation});
}

Step<LSTMCarry> LSTMCell::operator()(const Carry& carry, const Tensor& x) const {
  return step_with_h(carry, x, carry.h);
}

Step<LSTMCarry> LSTMCell::step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const {
  const Index hidden = hi.kernel.value().size(0);
  internal::check_lstm_step("LSTMCell", carry, x, ii.kernel.value().size(0), hidden, hidden);
  return lstm_step(options, carry, {ii(x) + hi(h), if_(x) + hf(h), ig(x) + hg(h), io(x) + ho(h)});
}

LSTMCarry LSTMCell::initial_carry(const Shape& input) const {
  return internal::zero_lstm_carry("LSTMCell", input, hi.kernel);
}

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
    : dense_i{internal::lstm_input_map(in_features,
                                       internal::gate_columns("OptimizedLSTMCell", in_features, hidden_features, 4),
                                       rngs, lstm_options)},
      dense_h{internal::lstm_hidden_map(hidden_features, 4 * hidden_features, rngs, lstm_options)},
      options(lstm_options) {
  internal::check_functions("OptimizedLSTMCell", {options.gate, options.activation});
}

Step<LSTMCarry> OptimizedLSTMCell::operator()(const Carry& carry, const Tensor& x) const {
  return step_with_h(carry, x, carry.h);
}

Step<LSTMCarry> OptimizedLSTMCell::step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const {
  const Index hidden = dense_h.kernel.value().size(0);
  internal::check_lstm_step("OptimizedLSTMCell", carry, x, dense_i.kernel.value().size(0), hidden, hidden);
  return lstm_step(options, carry, internal::lstm_gates(dense_i(x) + dense_h(h)));
}

LSTMCarry OptimizedLSTMCell::initial_carry(const Shape& input) const {
  return internal::zero_lstm_carry("OptimizedLSTMCell", input, dense_h.kernel);
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
