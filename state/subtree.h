// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/state/state.h"

namespace strata {

// The entries whose paths lead through `prefix`, which is taken off: the state of that part of a module. Empty if there
// are none; a variable at `prefix` itself stands at the root.
//
//   subtree(nn::state(model), {"encoder"}).at({"kernel"})    // what the model has at encoder/kernel
[[nodiscard]] State subtree(const State& state, const Path& prefix);

// The inverse: every path continues `prefix`.
[[nodiscard]] State with_prefix(const State& state, const Path& prefix);

}  // namespace strata
