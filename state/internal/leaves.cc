// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/leaves.h"

#include "strata/state/internal/state_access.h"
#include "strata/state/internal/walk.h"

namespace strata::internal {
namespace {

class LeafCollector final : public WalkHandler {
 public:
  void variable(const Trail& trail, Variable& variable, Node) override { leaves.push_back({trail.path(), &variable}); }

  std::vector<Leaf> leaves;
};

}  // namespace

std::vector<Leaf> collect_leaves(Node root) {
  LeafCollector collector;
  walk(root, collector);
  return std::move(collector.leaves);
}

State state_of(std::vector<Leaf> leaves) {
  std::vector<State::Entry> entries;
  entries.reserve(leaves.size());
  for (Leaf& leaf : leaves) entries.push_back({std::move(leaf.path), *leaf.variable});
  return StateAccess::from_sorted(std::move(entries));
}

State state_of(Node root) { return state_of(collect_leaves(root)); }

}  // namespace strata::internal
