// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "strata/state/state.h"

namespace strata::internal {

// The door for those who know that entries are in order and form a tree, and take them out again.
struct StateAccess {
  static State from_sorted(std::vector<State::Entry> entries) {
    State state;
    state.entries_ = std::move(entries);
    return state;
  }
  static std::vector<State::Entry> entries(State state) { return std::move(state.entries_); }

  // For their variables: the paths stay.
  static std::vector<State::Entry>& entries_of(State& state) { return state.entries_; }
};

}  // namespace strata::internal
