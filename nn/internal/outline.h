// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "strata/state/internal/node.h"
#include "strata/state/state.h"

namespace strata::nn::internal {

// One place of a module or state, as trees show it. Places come depth first; those below a place follow it.
struct OutlineRow {
  std::size_t depth = 0;   // keys from the root
  std::optional<Key> key;  // none for the root
  std::string type;        // of a module, printable; empty if there is no more than the key
  std::optional<Variable> variable;
  std::optional<Path> same_as;  // where the object that stands here was met first
  Index elements = 0;           // of the variable, or of all variables below
  std::size_t bytes = 0;
};

[[nodiscard]] std::vector<OutlineRow> outline(strata::internal::Node root);
[[nodiscard]] std::vector<OutlineRow> outline(const State& state);

// What stands there, but for the key: type, or kind, element type, shape and metadata, or where the object is.
[[nodiscard]] std::string describe(const OutlineRow& row);

}  // namespace strata::nn::internal
