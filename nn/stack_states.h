// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "strata/nn/state_axes.h"
#include "strata/state/state.h"

namespace strata::nn {

// States of equal paths, kinds, metadata, shapes and element types as one, each variable with a new axis of that many
// entries; shared variables, which must be identical, as they are. Kinds and metadata stay. Filters see the variables
// of the first state. Differentiable. Throws ValueError if there are no states, StateError that lists what differs and
// what no filter takes, ShapeError that lists the variables that have no place for their axis.
[[nodiscard]] State stack_states(std::span<const State> states, const StateAxes& axes = 0);

// The states that were stacked; the leading axis is taken apart without copying. Filters see the stacked variables.
// Differentiable. Throws StateError if all variables are shared or no filter takes one, ShapeError that lists the
// variables if they lack their axis or have different sizes along it.
[[nodiscard]] std::vector<State> unstack_state(const State& state, const StateAxes& axes = 0);

}  // namespace strata::nn
