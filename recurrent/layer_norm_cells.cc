// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/layer_norm_cells.h"

#include "strata/recurrent/internal/cells/cell_checks.h"
#include "strata/recurrent/internal/cells/lstm_parts.h"
#include "strata/recurrent/internal/cells/split_gates.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent {
namespace {

constexpr const char* lstm_name = "LayerNormLSTMCell";
constexpr const char* gru_name = "LayerNormGRUCell";

// Without bias: what it would add is in that of a norm.
nn::Linear map(Index in, Index out, Rngs& rngs, const LayerNormCellOptions& options, const nn::Initializer& init) {
  return nn::Linear(
      in, out, rngs,
      {.use_bias = false, .kernel_init = init, .dtype = options.dtype, .param_dtype = options.param_dtype});
}

nn::LayerNorm norm(Index features, Rngs& rngs, const LayerNormCellOptions& options, bool use_bias = true) {
  return nn::LayerNorm(features, rngs,
                       {.epsilon = options.epsilon,
                        .use_bias = use_bias,
                        .bias_init = options.bias_init,
                        .param_dtype = options.param_dtype});
}

// Those columns that belong to r and z, and to n.
struct Columns {
  Tensor gates;
  Tensor n;
};

Columns columns_of(const Tensor& product, Index hidden) {
  return {slice_axis(product, -1, 0, 2 * hidden), slice_axis(product, -1, 2 * hidden, 3 * hidden)};
}

}  // namespace

LayerNormLSTMCell::LayerNormLSTMCell(Index in_features, Index hidden_features, Rngs& rngs,
                                     const LayerNormCellOptions& cell_options)
    : dense_i{map(in_features, internal::gate_columns(lstm_name, in_features, hidden_features, 4), rngs, cell_options,
                  cell_options.kernel_init)},
      dense_h{map(hidden_features, 4 * hidden_features, rngs, cell_options, cell_options.recurrent_kernel_init)},
      norm_i{norm(4 * hidden_features, rngs, cell_options, false)},
      norm_h{norm(4 * hidden_features, rngs, cell_options)},
      norm_c{hidden_features, rngs, {.epsilon = cell_options.epsilon, .param_dtype = cell_options.param_dtype}},
      options(cell_options) {
  internal::check_functions(lstm_name, {options.gate, options.activation});
}

Step<LSTMCarry> LayerNormLSTMCell::operator()(const Carry& carry, const Tensor& x) const {
  return step_with_h(carry, x, carry.h);
}

Step<LSTMCarry> LayerNormLSTMCell::step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const {
  const Index hidden = dense_h.kernel.value().size(0);
  internal::check_lstm_step(lstm_name, carry, x, dense_i.kernel.value().size(0), hidden, hidden);
  const internal::LSTMGates gates = internal::lstm_gates(norm_i(dense_i(x)) + norm_h(dense_h(h)));
  const Tensor c = internal::next_memory({options.gate, options.activation}, gates, carry.c);
  const Tensor new_h = internal::next_output({options.gate, options.activation}, gates, norm_c(c), carry.h);
  return {{.c = c, .h = new_h}, new_h};
}

LSTMCarry LayerNormLSTMCell::initial_carry(const Shape& input) const {
  return internal::zero_lstm_carry(lstm_name, input, dense_h.kernel);
}

LayerNormGRUCell::LayerNormGRUCell(Index in_features, Index hidden_features, Rngs& rngs,
                                   const LayerNormCellOptions& cell_options)
    : dense_i{map(in_features, internal::gate_columns(gru_name, in_features, hidden_features, 3), rngs, cell_options,
                  cell_options.kernel_init)},
      dense_h{map(hidden_features, 3 * hidden_features, rngs, cell_options, cell_options.recurrent_kernel_init)},
      norm_gates_i{norm(2 * hidden_features, rngs, cell_options, false)},
      norm_gates_h{norm(2 * hidden_features, rngs, cell_options)},
      norm_n_i{norm(hidden_features, rngs, cell_options)},
      norm_n_h{norm(hidden_features, rngs, cell_options)},
      options(cell_options) {
  internal::check_functions(gru_name, {options.gate, options.activation});
}

Step<HiddenCarry> LayerNormGRUCell::operator()(const Carry& carry, const Tensor& x) const {
  return step_with_h(carry, x, carry.h);
}

Step<HiddenCarry> LayerNormGRUCell::step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const {
  const Index hidden = dense_h.kernel.value().size(0);
  internal::check_input(gru_name, x, dense_i.kernel.value().size(0));
  internal::check_carry(gru_name, "h", carry.h, x, hidden);
  const Columns from_x = columns_of(dense_i(x), hidden);
  const Columns from_h = columns_of(dense_h(h), hidden);
  const auto [r, z] = internal::split_gates<2>(options.gate(norm_gates_i(from_x.gates) + norm_gates_h(from_h.gates)));
  const Tensor n = options.activation(norm_n_i(from_x.n) + r * norm_n_h(from_h.n));
  const Tensor new_h = ((1.0 - z) * n + z * carry.h).astype(carry.h.dtype());
  return {{.h = new_h}, new_h};
}

HiddenCarry LayerNormGRUCell::initial_carry(const Shape& input) const {
  return internal::zero_hidden_carry(gru_name, input, dense_h.kernel);
}

}  // namespace strata::recurrent
