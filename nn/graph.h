// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "strata/nn/node_filter.h"

// The objects that a module is made of, and where they are. Lists keep O(1) memory for each node however long the paths
// are, since paths share keys.
namespace strata::nn {

namespace internal {

[[nodiscard]] std::vector<GraphNode> list_nodes(strata::internal::Node root);
[[nodiscard]] std::vector<GraphNode> list_modules(strata::internal::Node root);
[[nodiscard]] std::vector<GraphNode> list_children(strata::internal::Node root);
[[nodiscard]] std::vector<std::vector<Path>> list_duplicates(strata::internal::Node root, const NodeFilter& only);

}  // namespace internal

// All variables, modules and containers, each object once under its first path: children before what holds them, in
// the order of their keys; the root is the last.
template <class M>
[[nodiscard]] std::vector<GraphNode> nodes(const M& module) {
  return internal::list_nodes(strata::internal::node_of(module));
}

// The same without variables.
template <class M>
[[nodiscard]] std::vector<GraphNode> modules(const M& module) {
  return internal::list_modules(strata::internal::node_of(module));
}

// What stands right below the root, in the order of the keys; an object that stands there twice comes twice.
template <class M>
[[nodiscard]] std::vector<GraphNode> children(const M& module) {
  return internal::list_children(strata::internal::node_of(module));
}

// The paths of every object that has several, in the order in which they are met; cycles lead to the root, whose path
// is empty. What a shared module holds is not listed again. `only` chooses which paths after the first count.
template <class M>
[[nodiscard]] std::vector<std::vector<Path>> find_duplicates(const M& module, const NodeFilter& only = everything) {
  return internal::list_duplicates(strata::internal::node_of(module), only);
}

}  // namespace strata::nn
