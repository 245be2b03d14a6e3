// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/split.h"

#include <algorithm>

#include "strata/filters/internal/print.h"
#include "strata/filters/internal/program.h"
#include "strata/state/internal/listing.h"
#include "strata/state/internal/state_access.h"
#include "strata/tensor/error.h"

namespace strata {

void internal::check_placement(std::span<const Filter> filters) {
  if (filters.empty()) throw ValueError("[split] there is no filter. A split needs at least one.");
  const auto first = std::find_if(filters.begin(), filters.end(), [](const Filter& f) { return f.is_rest(); });
  const auto after = std::find_if_not(first, filters.end(), [](const Filter& f) { return f.is_rest(); });
  if (after == filters.end()) return;
  throw FilterError("[split] `rest` is filter " + std::to_string(first - filters.begin()) + " of " +
                    std::to_string(filters.size()) + " and leaves nothing to " + internal::quote(*after) +
                    ". Put it at the end.");
}

namespace {

const Variable& variable_of(const State::Entry& entry) { return entry.variable; }
const Variable& variable_of(const internal::Leaf& leaf) { return *leaf.variable; }

template <class Item>
[[noreturn]] void throw_leftover(const std::vector<Item>& items, const std::vector<std::size_t>& takers,
                                 std::size_t none) {
  std::vector<std::string> offenders;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (takers[i] != none) continue;
    offenders.push_back(to_string(items[i].path) + " (" + describe(variable_of(items[i])) + ")");
  }
  throw StateError("[split] " + std::to_string(offenders.size()) +
                   (offenders.size() == 1 ? " variable matches" : " variables match") +
                   " no filter: " + internal::list_offenders(offenders) + ". Add strata::rest as the last filter.");
}

State::Entry to_entry(State::Entry& entry) { return std::move(entry); }
State::Entry to_entry(internal::Leaf& leaf) { return {std::move(leaf.path), *leaf.variable}; }

// Asks for all variables first, so that every group is allocated once.
template <class Item>
std::vector<State> sort(std::vector<Item> items, std::span<const Filter> filters, Leftover leftover) {
  internal::check_placement(filters);
  std::vector<std::size_t> takers(items.size());
  std::vector<std::size_t> counts(filters.size() + 1);
  internal::Program program(filters);
  for (std::size_t i = 0; i < items.size(); ++i) {
    takers[i] = program.first_match(items[i].path, variable_of(items[i]));
    ++counts[takers[i]];
  }
  if (leftover == Leftover::error && counts.back() != 0) throw_leftover(items, takers, filters.size());
  std::vector<std::vector<State::Entry>> groups(filters.size());
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].reserve(counts[i]);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (takers[i] != filters.size()) groups[takers[i]].push_back(to_entry(items[i]));
  }
  std::vector<State> result;
  result.reserve(groups.size());
  for (auto& group : groups) result.push_back(internal::StateAccess::from_sorted(std::move(group)));
  return result;
}

}  // namespace

std::vector<State> split_groups(State state, std::span<const Filter> filters, Leftover leftover) {
  return sort(internal::StateAccess::entries(std::move(state)), filters, leftover);
}

std::vector<State> internal::split_leaves(std::vector<Leaf> leaves, std::span<const Filter> filters,
                                          Leftover leftover) {
  return sort(std::move(leaves), filters, leftover);
}

State filter(State state, const Filter& filter) {
  return std::move(split_groups(std::move(state), std::span<const Filter>(&filter, 1), Leftover::drop).front());
}

}  // namespace strata
