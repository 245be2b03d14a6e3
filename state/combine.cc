// SPDX-License-Identifier: Apache-2.0
#include "strata/state/combine.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "strata/state/internal/listing.h"
#include "strata/state/internal/path_comparer.h"
#include "strata/state/internal/state_access.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

struct Candidate {
  const State::Entry* entry;
  std::size_t state;  // its position among the states
};
using Candidates = std::vector<Candidate>;

// The entries of all states in the order of their paths, at one path in the order of the states.
Candidates in_order(std::span<const State* const> states) {
  std::vector<Candidates> runs(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (const State::Entry& entry : *states[i]) runs[i].push_back({&entry, i});
  }
  while (runs.size() > 1) {
    std::vector<Candidates> merged((runs.size() + 1) / 2);
    for (std::size_t i = 0; i < merged.size(); ++i) {
      if (2 * i + 1 == runs.size()) {
        merged[i] = std::move(runs.back());
        break;
      }
      const Candidates& a = runs[2 * i];
      const Candidates& b = runs[2 * i + 1];
      merged[i].resize(a.size() + b.size());
      internal::PathComparer compare;
      std::merge(a.begin(), a.end(), b.begin(), b.end(), merged[i].begin(),
                 [&](const Candidate& x, const Candidate& y) { return compare(x.entry->path, y.entry->path) < 0; });
    }
    runs = std::move(merged);
  }
  return runs.empty() ? Candidates() : std::move(runs.front());
}

// A path of some state: its first and last candidate.
struct Group {
  const Path& path;
  const Candidate& first;
  const Candidate& last;
};

// Calls f(group, above) for every path, with the paths above it that hold variables too, outermost first.
template <class F>
void for_each_path(const Candidates& candidates, F f) {
  internal::PathComparer compare_same;
  internal::PathComparer compare_above;
  std::vector<Group> above;
  for (std::size_t i = 0; i < candidates.size();) {
    const Path& path = candidates[i].entry->path;
    std::size_t next = i + 1;
    while (next < candidates.size() && candidates[next].entry->path.depth() == path.depth() &&
           compare_same(path, candidates[next].entry->path) == 0) {
      ++next;
    }
    const auto leads_here = [&](const Group& group) {
      return group.path.depth() < path.depth() && compare_above(group.path, path.prefix(group.path.depth())) == 0;
    };
    while (!above.empty() && !leads_here(above.back())) above.pop_back();
    const Group group{path, candidates[i], candidates[next - 1]};
    f(group, above);
    above.push_back(group);
    i = next;
  }
}

std::string pair_text(const Path& above, const Path& below) {
  return internal::shown(above) + " and " + internal::shown(below);
}

[[noreturn]] void throw_conflicts(const char* operation, const std::vector<std::string>& conflicts) {
  throw StateError("[" + std::string(operation) +
                   "] a path cannot hold a variable and lead to others: " + internal::list_offenders(conflicts) + ".");
}

std::vector<const State*> pointers_to(std::span<const State> states) {
  std::vector<const State*> pointers;
  pointers.reserve(states.size());
  for (const State& state : states) pointers.push_back(&state);
  return pointers;
}

}  // namespace

State internal::merge_states(std::span<const State* const> states) {
  std::vector<State::Entry> entries;
  std::vector<std::string> twice;
  std::vector<std::string> conflicts;
  for_each_path(in_order(states), [&](const Group& group, const std::vector<Group>& above) {
    if (&group.first != &group.last) twice.push_back(shown(group.path));
    if (!above.empty()) conflicts.push_back(pair_text(above.back().path, group.path));
    entries.push_back(*group.first.entry);
  });
  if (!twice.empty()) {
    throw StateError("[merge] paths that several states hold: " + list_offenders(twice) +
                     ". Use overlay if the later state shall win.");
  }
  if (!conflicts.empty()) throw_conflicts("merge", conflicts);
  return StateAccess::from_sorted(std::move(entries));
}

State internal::overlay_states(std::span<const State* const> states) {
  std::vector<State::Entry> entries;
  std::vector<std::string> conflicts;
  for_each_path(in_order(states), [&](const Group& group, const std::vector<Group>& above) {
    const auto earlier = std::find_if(above.begin(), above.end(),
                                      [&](const Group& leaf) { return leaf.first.state < group.last.state; });
    if (earlier != above.end()) conflicts.push_back(pair_text(earlier->path, group.path));
    if (above.empty()) entries.push_back(*group.last.entry);
  });
  if (!conflicts.empty()) throw_conflicts("overlay", conflicts);
  return StateAccess::from_sorted(std::move(entries));
}

State merge(std::span<const State> states) { return internal::merge_states(pointers_to(states)); }
State overlay(std::span<const State> states) { return internal::overlay_states(pointers_to(states)); }

State difference(const State& a, const State& b) {
  std::vector<State::Entry> entries;
  internal::PathComparer compare;
  auto other = b.begin();
  for (const State::Entry& entry : a) {
    std::strong_ordering order = std::strong_ordering::less;
    while (other != b.end() && (order = compare(entry.path, other->path)) > 0) ++other;
    if (other == b.end() || order < 0) entries.push_back(entry);
  }
  return internal::StateAccess::from_sorted(std::move(entries));
}

}  // namespace strata
