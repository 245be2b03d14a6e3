// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/gru_cell.h"

#include "strata/recurrent/internal/cells/cell_checks.h"
#include "strata/recurrent/internal/cells/split_gates.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/linear_algebra.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent {
namespace {

// The part of n that comes from the state, reset before the product.
Tensor reset_before_product(const nn::Linear& dense_h, const Tensor& r, const Tensor& h) {
  const auto factor = [&](const Tensor& x) { return dense_h.dtype ? x.astype(*dense_h.dtype) : x; };
  const Index hidden = dense_h.kernel.value().size(0);
  const Tensor product = matmul(factor(r * h), factor(slice_axis(dense_h.kernel, 1, 2 * hidden, 3 * hidden)));
  return dense_h.bias ? product + factor(dense_h.bias->value().slice(2 * hidden, 3 * hidden)) : product;
}

}  // namespace

GRUCell::GRUCell(Index in_features, Index hidden_features, Rngs& rngs, const GRUOptions& gru_options)
    : dense_i{in_features,
              internal::gate_columns("GRUCell", in_features, hidden_features, 3),
              rngs,
              {.kernel_init = gru_options.kernel_init,
               .bias_init = gru_options.bias_init,
               .dtype = gru_options.dtype,
               .param_dtype = gru_options.param_dtype}},
      dense_h{hidden_features,
              3 * hidden_features,
              rngs,
              {.use_bias = gru_options.recurrent_bias,
               .kernel_init = gru_options.recurrent_kernel_init,
               .bias_init = gru_options.bias_init,
               .dtype = gru_options.dtype,
               .param_dtype = gru_options.param_dtype}},
      options(gru_options) {
  internal::check_functions("GRUCell", {options.gate, options.activation});
}

Step<HiddenCarry> GRUCell::operator()(const Carry& carry, const Tensor& x) const {
  return step_with_h(carry, x, carry.h);
}

Step<HiddenCarry> GRUCell::step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const {
  internal::check_input("GRUCell", x, dense_i.kernel.value().size(0));
  internal::check_carry("GRUCell", "h", carry.h, x, dense_h.kernel.value().size(0));
  const auto from_x = internal::split_gates<3>(dense_i(x));
  const auto from_h = internal::split_gates<3>(dense_h(h));
  const Tensor r = options.gate(from_x[0] + from_h[0]);
  const Tensor z = options.gate(from_x[1] + from_h[1]);
  const Tensor state_part = options.form == GRUForm::reset_after ? r * from_h[2] : reset_before_product(dense_h, r, h);
  const Tensor n = options.activation(from_x[2] + state_part);
  const Tensor new_h = ((1.0 - z) * n + z * carry.h).astype(carry.h.dtype());
  return {{.h = new_h}, new_h};
}

HiddenCarry GRUCell::initial_carry(const Shape& input) const {
  return internal::zero_hidden_carry("GRUCell", input, dense_h.kernel);
}

std::optional<internal::FusedCell> GRUCell::fused() const {
  const bool standard = options.form == GRUForm::reset_after && options.gate == static_cast<Activation>(sigmoid) &&
                        options.activation == static_cast<Activation>(strata::tanh);
  if (!standard) return std::nullopt;
  internal::FusedCell cell{.kind = internal::CellKind::gru,
                           .input = dense_i.kernel.value().size(0),
                           .hidden = dense_h.kernel.value().size(0)};
  cell.add_input_maps({&dense_i});
  cell.add_recurrent_maps({&dense_h});
  return cell;
}

}  // namespace strata::recurrent
