// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/cells/lstm_parts.h"

#include "strata/recurrent/internal/cells/cell_checks.h"
#include "strata/recurrent/internal/cells/split_gates.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent::internal {

nn::Linear lstm_input_map(Index in, Index out, Rngs& rngs, const LSTMOptions& options) {
  return nn::Linear(in, out, rngs,
                    {.use_bias = false,
                     .kernel_init = options.kernel_init,
                     .dtype = options.dtype,
                     .param_dtype = options.param_dtype});
}

nn::Linear lstm_hidden_map(Index in, Index out, Rngs& rngs, const LSTMOptions& options) {
  return nn::Linear(in, out, rngs,
                    {.kernel_init = options.recurrent_kernel_init,
                     .bias_init = options.bias_init,
                     .dtype = options.dtype,
                     .param_dtype = options.param_dtype});
}

void check_lstm_step(const char* cell, const LSTMCarry& carry, const Tensor& x, Index input, Index memory,
                     Index output) {
  check_input(cell, x, input);
  check_carry(cell, "c", carry.c, x, memory);
  check_carry(cell, "h", carry.h, x, output);
}

LSTMGates lstm_gates(const Tensor& sums) {
  auto [i, f, g, o] = split_gates<4>(sums);
  return {std::move(i), std::move(f), std::move(g), std::move(o)};
}

LSTMCarry zero_lstm_carry(const char* cell, const Shape& input, const Tensor& hidden_kernel) {
  const Tensor zero = zeros(carry_shape(cell, input, hidden_kernel.size(0)), hidden_kernel.dtype());
  return {.c = zero, .h = zero};
}

Tensor next_memory(LSTMFunctions functions, const LSTMGates& gates, const Tensor& c) {
  return (functions.gate(gates.f) * c + functions.gate(gates.i) * functions.activation(gates.g)).astype(c.dtype());
}

Tensor next_output(LSTMFunctions functions, const LSTMGates& gates, const Tensor& c, const Tensor& h) {
  return (functions.gate(gates.o) * functions.activation(c)).astype(h.dtype());
}

}  // namespace strata::recurrent::internal
