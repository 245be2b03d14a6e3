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

// The values that the leaves, or the variables below root, have now.
State state_of(std::vector<Leaf> leaves);
State state_of(Node root);

}  // namespace strata::internal
