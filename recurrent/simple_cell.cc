// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/simple_cell.h"

#include "strata/recurrent/internal/cells/cell_checks.h"
#include "strata/tensor/arithmetic.h"

namespace strata::recurrent {
SimpleCell::SimpleCell(Index in_features, Index hidden_features, Rngs& rngs, const SimpleCellOptions& cell_options)
    : dense_h{hidden_features,
              internal::gate_columns("SimpleCell", in_features, hidden_features, 1),
              rngs,
              {.use_bias = false,
               .kernel_init = cell_options.recurrent_kernel_init,
               .dtype = cell_options.dtype,
               .param_dtype = cell_options.param_dtype}},
      dense_i{in_features,
              hidden_features,
              rngs,
              {.kernel_init = cell_options.kernel_init,
               .bias_init = cell_options.bias_init,
               .dtype = cell_options.dtype,
               .param_dtype = cell_options.param_dtype}},
      options(cell_options) {
  internal::check_functions("SimpleCell", {options.activation});
}

Step<HiddenCarry> SimpleCell::operator()(const Carry& carry, const Tensor& x) const {
  return step_with_h(carry, x, carry.h);
}

Step<HiddenCarry> SimpleCell::step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const {
  internal::check_input("SimpleCell", x, dense_i.kernel.value().size(0));
  internal::check_carry("SimpleCell", "h", carry.h, x, dense_h.kernel.value().size(0));
  const Tensor sum = dense_i(x) + dense_h(h);
  const Tensor new_h = options.activation(options.residual ? sum + carry.h : sum).astype(carry.h.dtype());
  return {{.h = new_h}, new_h};
}

HiddenCarry SimpleCell::initial_carry(const Shape& input) const {
  return internal::zero_hidden_carry("SimpleCell", input, dense_h.kernel);
}

std::optional<internal::FusedCell> SimpleCell::fused() const {
  const bool is_tanh = options.activation == static_cast<Activation>(strata::tanh);
  if (!is_tanh && options.activation != static_cast<Activation>(relu)) return std::nullopt;
  internal::FusedCell cell{.kind = is_tanh ? internal::CellKind::simple_tanh : internal::CellKind::simple_relu,
                           .input = dense_i.kernel.value().size(0),
                           .hidden = dense_h.kernel.value().size(0),
                           .residual = options.residual};
  cell.add_input_maps({&dense_i});
  cell.add_recurrent_maps({&dense_h});
  return cell;
}

}  // namespace strata::recurrent
