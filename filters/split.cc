// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/split.h"

#include <algorithm>

#include "strata/state/internal/listing.h"
#include "strata/state/internal/state_access.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

void check_placement(std::span<const Filter> filters) {
  if (filters.empty()) throw ValueError("[split] there is no filter. A split needs at least one.");
  const auto first = std::find_if(filters.begin(), filters.end(), [](const Filter& f) { return f.is_rest(); });
  const auto after = std::find_if_not(first, filters.end(), [](const Filter& f) { return f.is_rest(); });
  if (after == filters.end()) return;
  throw FilterError("[split] `rest` is filter " + std::to_string(first - filters.begin()) + " of " +
                    std::to_string(filters.size()) + " and leaves nothing to `" + to_string(*after) +
                    "`. Put it at the end.");
}

[[noreturn]] void throw_leftover(const std::vector<State::Entry>& entries) {
  std::vector<std::string> offenders;
  for (const State::Entry& entry : entries) {
    offenders.push_back(to_string(entry.path) + " (" + describe(entry.variable) + ")");
  }
  throw StateError("[split] " + std::to_string(entries.size()) +
                   (entries.size() == 1 ? " variable matches" : " variables match") +
                   " no filter: " + internal::list_offenders(offenders) + ". Add strata::rest as the last filter.");
}

}  // namespace

std::vector<State> split_groups(State state, std::span<const Filter> filters, Leftover leftover) {
  check_placement(filters);
  std::vector<std::vector<State::Entry>> groups(filters.size());
  std::vector<State::Entry> unmatched;
  for (State::Entry& entry : internal::StateAccess::entries(std::move(state))) {
    const auto taker = std::find_if(filters.begin(), filters.end(),
                                    [&](const Filter& filter) { return filter(entry.path, entry.variable); });
    if (taker != filters.end()) {
      groups[static_cast<std::size_t>(taker - filters.begin())].push_back(std::move(entry));
    } else if (leftover == Leftover::error) {
      unmatched.push_back(std::move(entry));
    }
  }
  if (!unmatched.empty()) throw_leftover(unmatched);
  std::vector<State> result;
  result.reserve(groups.size());
  for (std::vector<State::Entry>& group : groups)
    result.push_back(internal::StateAccess::from_sorted(std::move(group)));
  return result;
}

State filter(const State& state, const Filter& filter) {
  return split_groups(state, std::span<const Filter>(&filter, 1), Leftover::drop).front();
}

}  // namespace strata
