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

bool fits(const Expected& expected, const Variable& entry, Fit fit) {
  const bool checks_kind = fit == Fit::whole && expected.typed && knows_kind(entry);
  return (!checks_kind || &entry.kind() == expected.kind) && entry.value().shape() == expected.shape &&
         entry.value().dtype() == expected.dtype;
}

std::string describe(const Expected& expected) {
  return std::string(expected.kind->name) + " " + std::string(name(expected.dtype)) + to_string(expected.shape);
}

// Calls f(place or null, entry or null) for every path that either has, in order.
template <class Place, class F>
void for_each_path(const std::vector<Place>& places, const State& state, F f) {
  auto place = places.begin();
  auto entry = state.begin();
  while (place != places.end() || entry != state.end()) {
    const bool take_place = entry == state.end() || (place != places.end() && place->path <= entry->path);
    const bool take_entry = place == places.end() || (entry != state.end() && entry->path <= place->path);
    f(take_place ? &*place : nullptr, take_entry ? &*entry : nullptr);
    if (take_place) ++place;
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

std::vector<Expected> expect(const std::vector<Leaf>& leaves) {
  std::vector<Expected> expected;
  expected.reserve(leaves.size());
  for (const auto& [path, variable, typed] : leaves) {
    expected.push_back({path, &variable->kind(), variable->value().shape(), variable->value().dtype(), typed});
  }
  return expected;
}

void check_fit(const std::vector<Expected>& expected, const State& state, Fit fit, const char* operation) {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> different;
  for_each_path(expected, state, [&](const Expected* place, const State::Entry* entry) {
    if (entry == nullptr) {
      if (fit == Fit::whole) missing.push_back(to_string(place->path) + " (" + describe(*place) + ")");
    } else if (place == nullptr) {
      unexpected.push_back(to_string(entry->path) + " (" + describe(entry->variable) + ")");
    } else if (!fits(*place, entry->variable, fit)) {
      different.push_back(to_string(place->path) + " (expected " + describe(*place) + ", got " +
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
