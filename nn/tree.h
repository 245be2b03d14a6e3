// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "strata/state/internal/node_of.h"
#include "strata/state/state.h"

namespace strata::nn {

namespace internal {

std::string tree_text(strata::internal::Node root);

}  // namespace internal

// The module as a tree, one line for each module, container and variable, in the order of the keys: name, type or kind,
// element type, shape and metadata, and how many elements there are below. A shared object is shown where it is met
// first, and named there later.
//
//              Linear                      20
//   ├─ bias    Param float32[4]             4
//   └─ kernel  Param float32[4, 4]         16
//
// Lines deeper than 32 levels are drawn like those of level 32, with their depth in front of the name: the text grows
// with the number of lines alone. Names are cut at 200 characters.
template <class M>
[[nodiscard]] std::string tree(const M& module) {
  return internal::tree_text(strata::internal::node_of(module));
}

// The same for the paths of a state.
[[nodiscard]] std::string tree(const State& state);

}  // namespace strata::nn
