// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/leaves.h"

#include "strata/state/internal/listing.h"
#include "strata/state/internal/node_of.h"
#include "strata/state/internal/walk.h"
#include "strata/tensor/error.h"

namespace strata::internal {
namespace {

class LeafCollector final : public WalkHandler {
 public:
  void variable(std::span<const Key> keys, Variable& variable, Node place) override {
    const bool typed = place.type != &node_type<Variable>();
    leaves.push_back({Path(std::vector<Key>(keys.begin(), keys.end())), &variable, typed});
  }

  std::vector<Leaf> leaves;
};

bool knows_kind(const Variable& entry) { return &entry.kind() != &kind_of<Variable>(); }

bool fits(const Leaf& leaf, const Variable& entry, Fit fit) {
  const Variable& field = *leaf.variable;
  const bool checks_kind = fit == Fit::whole && leaf.typed && knows_kind(entry);
  return (!checks_kind || &entry.kind() == &field.kind()) && entry.value().shape() == field.value().shape() &&
         entry.value().dtype() == field.value().dtype();
}

// Calls f(leaf or null, entry or null) for every path that either has, in order.
template <class F>
void for_each_path(const std::vector<Leaf>& leaves, const State& state, F f) {
  auto leaf = leaves.begin();
  auto entry = state.begin();
  while (leaf != leaves.end() || entry != state.end()) {
    const bool take_leaf = entry == state.end() || (leaf != leaves.end() && leaf->path <= entry->path);
    const bool take_entry = leaf == leaves.end() || (entry != state.end() && entry->path <= leaf->path);
    f(take_leaf ? &*leaf : nullptr, take_entry ? &*entry : nullptr);
    if (take_leaf) ++leaf;
    if (take_entry) ++entry;
  }
}

void add_part(std::string& message, const char* what, const std::vector<std::string>& offenders) {
  if (!offenders.empty()) message += " " + std::string(what) + ": " + list_offenders(offenders) + ".";
}

}  // namespace

std::vector<Leaf> collect_leaves(Node root) {
  LeafCollector collector;
  walk(root, collector);
  return std::move(collector.leaves);
}

State state_of(const std::vector<Leaf>& leaves) {
  std::vector<State::Entry> entries;
  entries.reserve(leaves.size());
  for (const Leaf& leaf : leaves) entries.push_back({leaf.path, *leaf.variable});
  return State(std::move(entries));
}

void check_fit(const std::vector<Leaf>& leaves, const State& state, Fit fit, const char* operation) {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> different;
  for_each_path(leaves, state, [&](const Leaf* leaf, const State::Entry* entry) {
    if (entry == nullptr) {
      if (fit == Fit::whole) missing.push_back(to_string(leaf->path) + " (" + describe(*leaf->variable) + ")");
    } else if (leaf == nullptr) {
      unexpected.push_back(to_string(entry->path) + " (" + describe(entry->variable) + ")");
    } else if (!fits(*leaf, entry->variable, fit)) {
      different.push_back(to_string(leaf->path) + " (expected " + describe(*leaf->variable) + ", got " +
                          describe(entry->variable) + ")");
    }
  });
  if (missing.empty() && unexpected.empty() && different.empty()) return;
  std::string message = "[" + std::string(operation) + "] the state does not fit the module.";
  add_part(message, "Missing", missing);
  add_part(message, "Unexpected", unexpected);
  add_part(message, "Different", different);
  throw StateError(message + " Nothing was changed.");
}

void assign_leaves(const std::vector<Leaf>& leaves, const State& state, Fit fit) noexcept {
  for_each_path(leaves, state, [&](const Leaf* leaf, const State::Entry* entry) {
    if (leaf == nullptr || entry == nullptr) return;
    Variable& field = *leaf->variable;
    if (fit == Fit::whole && !leaf->typed && knows_kind(entry->variable)) {
      field = entry->variable;
      return;
    }
    field.reset(entry->variable.value());
    if (knows_kind(entry->variable)) field.set_metadata(entry->variable.metadata());
  });
}

}  // namespace strata::internal
