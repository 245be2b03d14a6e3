// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "strata/state/internal/node.h"
#include "strata/state/state.h"

namespace strata::internal {

// A variable where it stands in a module.
struct Leaf {
  Path path;
  Variable* variable;
};

// Every variable below root once, in the order of the paths.
std::vector<Leaf> collect_leaves(Node root);

// The values that the leaves have now.
State state_of(const std::vector<Leaf>& leaves);

enum class Coverage { whole, partial };

// Throws StateError that lists all entries that do not fit: paths that the leaves do not have, shapes, element types or
// kinds that differ, and, if the coverage is to be whole, leaves that the state does not have.
void check_fit(const std::vector<Leaf>& leaves, const State& state, Coverage coverage, const char* operation);

// Gives the leaves the values and metadata of the state, which fits. An entry of the root kind (from a file that knows
// no kinds) leaves the metadata alone.
void assign_leaves(const std::vector<Leaf>& leaves, const State& state) noexcept;

}  // namespace strata::internal
