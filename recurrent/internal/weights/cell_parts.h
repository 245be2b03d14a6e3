// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/nn/linear.h"
#include "strata/recurrent/cell.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/peephole_lstm_cell.h"
#include "strata/recurrent/projected_lstm_cell.h"
#include "strata/recurrent/simple_cell.h"

// The standard cells seen without their types: what the exchange of weights needs of them.
namespace strata::recurrent::internal {

enum class CellFamily : std::uint8_t { lstm, gru, simple };

struct CellParts {
  CellFamily family;
  std::string_view name;                    // of the C++ type
  std::vector<nn::Linear*> input_maps;      // one for all gates, or one for each in the order of gates(family)
  std::vector<nn::Linear*> recurrent_maps;  // likewise
  Activation gate = nullptr;                // null for a simple cell
  Activation activation = nullptr;
  GRUForm form = GRUForm::reset_after;
  bool residual = false;
  nn::Linear* projection = nullptr;    // of the state of an LSTM; null if there is none
  std::vector<Param*> peepholes = {};  // of an LSTM, in the order of peephole_gates; empty if there are none

  [[nodiscard]] Index in_features() const { return input_maps[0]->kernel.value().size(0); }
  [[nodiscard]] Index hidden_features() const {
    return projection != nullptr ? projection->kernel.value().size(0) : state_features();
  }
  // Of h, which may be narrower than the gates.
  [[nodiscard]] Index state_features() const { return recurrent_maps[0]->kernel.value().size(0); }
  [[nodiscard]] DType dtype() const { return input_maps[0]->kernel.value().dtype(); }
};

[[nodiscard]] CellParts parts_of(LSTMCell& cell);
[[nodiscard]] CellParts parts_of(OptimizedLSTMCell& cell);
[[nodiscard]] CellParts parts_of(ProjectedLSTMCell& cell);
[[nodiscard]] CellParts parts_of(PeepholeLSTMCell& cell);
[[nodiscard]] CellParts parts_of(GRUCell& cell);
[[nodiscard]] CellParts parts_of(SimpleCell& cell);

// One layer: the cells of its directions.
struct LayerParts {
  std::vector<CellParts> cells;
  bool is_cell = false;  // a cell by itself, not run over sequences
};

// The gates side by side in our arrays, a letter for each: "ifgo", "rzn", "h".
[[nodiscard]] std::string_view gates(CellFamily family);

// Those that have peepholes, side by side in our order.
inline constexpr std::string_view peephole_gates = "ifo";

// All weights of a cell, the gates side by side in the order of gates(family).
struct GateWeights {
  Tensor input_kernel;                        // [in, gates hidden]
  Tensor recurrent_kernel;                    // [state, gates hidden]
  std::optional<Tensor> input_bias = {};      // [gates hidden]; absent is zero
  std::optional<Tensor> recurrent_bias = {};  // [gates hidden]; absent is zero
  std::optional<Tensor> projection = {};      // [hidden, state], of cells and layouts that have one
  std::optional<Tensor> peepholes = {};       // [3 hidden], of cells that have them; absent is zero
};

// True if every element is zero of either sign, or there is none.
[[nodiscard]] bool is_zero(const std::optional<Tensor>& bias);

// The sum of two biases of which either may be absent; a zero one leaves the bits of the other as they are.
[[nodiscard]] std::optional<Tensor> sum_of_biases(const std::optional<Tensor>& a, const std::optional<Tensor>& b);

// The columns of x in another order of the gates along its last axis; the letters of both are the same.
[[nodiscard]] Tensor reorder_gates(const Tensor& x, std::string_view from, std::string_view to);

// What a cell holds.
[[nodiscard]] GateWeights weights_of(const CellParts& cell);

// A value that a variable is to get.
struct Assignment {
  Param* variable;
  Tensor value;
};

// Adds what gives a cell these weights, of fitting shapes and types. Where the cell has one bias for two, it gets their
// sum. What it has no place for comes back as the reason why; then nothing was added.
[[nodiscard]] std::optional<std::string> assign_weights(const CellParts& cell, const GateWeights& weights,
                                                        std::vector<Assignment>& assignments);

}  // namespace strata::recurrent::internal
