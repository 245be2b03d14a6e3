// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/mgu_cell.h"

#include "strata/recurrent/internal/cells/cell_checks.h"
#include "strata/tensor/arithmetic.h"

namespace strata::recurrent {
namespace {

nn::Linear input_map(Index in, Index out, Rngs& rngs, const MGUOptions& options, const nn::Initializer& bias_init) {
  return nn::Linear(in, out, rngs,
                    {.kernel_init = options.kernel_init,
                     .bias_init = bias_init,
                     .dtype = options.dtype,
                     .param_dtype = options.param_dtype});
}

nn::Linear hidden_map(Index size, Rngs& rngs, const MGUOptions& options, bool use_bias) {
  return nn::Linear(size, size, rngs,
                    {.use_bias = use_bias,
                     .kernel_init = options.recurrent_kernel_init,
                     .bias_init = options.bias_init,
                     .dtype = options.dtype,
                     .param_dtype = options.param_dtype});
}

}  // namespace

MGUCell::MGUCell(Index in_features, Index hidden_features, Rngs& rngs, const MGUOptions& mgu_options)
    : if_{input_map(in_features, internal::gate_columns("MGUCell", in_features, hidden_features, 1), rngs, mgu_options,
                    mgu_options.forget_bias_init)},
      in{input_map(in_features, hidden_features, rngs, mgu_options, mgu_options.bias_init)},
      hf{hidden_map(hidden_features, rngs, mgu_options, false)},
      hn{hidden_map(hidden_features, rngs, mgu_options, mgu_options.reset_gate)},
      options(mgu_options) {
  internal::check_functions("MGUCell", {options.gate, options.activation});
}

Step<HiddenCarry> MGUCell::operator()(const Carry& carry, const Tensor& x) const {
  return step_with_h(carry, x, carry.h);
}

Step<HiddenCarry> MGUCell::step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const {
  internal::check_input("MGUCell", x, in.kernel.value().size(0));
  internal::check_carry("MGUCell", "h", carry.h, x, hn.kernel.value().size(0));
  const Tensor f = options.gate(if_(x) + hf(h));
  const Tensor state_part = hn(h);
  const Tensor n = options.activation(in(x) + (options.reset_gate ? f * state_part : state_part));
  const Tensor new_h = ((1.0 - f) * n + f * carry.h).astype(carry.h.dtype());
  return {{.h = new_h}, new_h};
}

HiddenCarry MGUCell::initial_carry(const Shape& input) const {
  return internal::zero_hidden_carry("MGUCell", input, hn.kernel);
}

}  // namespace strata::recurrent
