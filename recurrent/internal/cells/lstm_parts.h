// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/nn/linear.h"
#include "strata/recurrent/carry.h"
#include "strata/recurrent/lstm_cell.h"

// What the kinds of LSTM have in common.
namespace strata::recurrent::internal {

// The maps of x, without bias, and of h, with one.
nn::Linear lstm_input_map(Index in, Index out, Rngs& rngs, const LSTMOptions& options);
nn::Linear lstm_hidden_map(Index in, Index out, Rngs& rngs, const LSTMOptions& options);

// Throws ShapeError or DTypeError unless input and carry fit; `output` is the size of h.
void check_lstm_step(const char* cell, const LSTMCarry& carry, const Tensor& x, Index input, Index memory,
                     Index output);

// The sums before the gate functions.
struct LSTMGates {
  Tensor i, f, g, o;
};

// The parts of a sum that holds the gates side by side, in this order.
LSTMGates lstm_gates(const Tensor& sums);

// Zeros for inputs of shape [*batch, in_features], of the width and type of a kernel [hidden, ...].
LSTMCarry zero_lstm_carry(const char* cell, const Shape& input, const Tensor& hidden_kernel);

struct LSTMFunctions {
  Activation gate;
  Activation activation;
};

// c' = f c + i g
Tensor next_memory(LSTMFunctions functions, const LSTMGates& gates, const Tensor& c);

// o activation(c), of the element type of h.
Tensor next_output(LSTMFunctions functions, const LSTMGates& gates, const Tensor& c, const Tensor& h);

}  // namespace strata::recurrent::internal
