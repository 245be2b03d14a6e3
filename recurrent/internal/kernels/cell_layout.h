// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace strata::recurrent::internal {

enum class CellKind { lstm, gru, simple_tanh, simple_relu };

// How a cell's gates sit in accumulators. A unit has `slots` accumulators; the product with the input adds to `gates`
// of them from `input_begin` on, the product with the state to `gates` of them from `recurrent_begin` on.
// `input_gate[i]` is the caller's number of the gate whose input kernel adds to slot input_begin + i; `recurrent_gate`
// likewise.
struct CellLayout {
  int gates;
  int slots;
  int input_begin;
  int recurrent_begin;
  int saved;        // values per unit and step that a backward pass needs: the slots first, then the cell's own
  bool has_memory;  // the carry has a part c beside h
  std::array<int, 4> input_gate;
  std::array<int, 4> recurrent_gate;
};

// Gates i, f, g, o. Saved: the activated gates, the memory before the step, tanh of the memory after it.
inline constexpr CellLayout lstm_layout{4, 4, 0, 0, 6, true, {0, 1, 2, 3}, {0, 1, 2, 3}};

// Gates r, z, n. The parts of n that come from the input and from the state are combined only after the reset gate is
// known and need a slot each: n from the input, r, z, n from the state. Saved: n, r, z activated, n from the state as
// it is.
inline constexpr CellLayout gru_layout{3, 4, 0, 1, 4, false, {2, 0, 1, 0}, {0, 1, 2, 0}};

// One gate. Saved: the new state.
inline constexpr CellLayout simple_layout{1, 1, 0, 0, 1, false, {0, 0, 0, 0}, {0, 0, 0, 0}};

[[nodiscard]] constexpr const CellLayout& layout_of(CellKind kind) {
  switch (kind) {
    case CellKind::lstm:
      return lstm_layout;
    case CellKind::gru:
      return gru_layout;
    case CellKind::simple_tanh:
    case CellKind::simple_relu:
      break;
  }
  return simple_layout;
}

}  // namespace strata::recurrent::internal
