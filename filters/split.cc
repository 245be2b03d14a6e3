// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/split.h"

#include <algorithm>

#include "strata/filters/internal/print.h"
#include "strata/filters/internal/program.h"
#include "strata/state/internal/listing.h"
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

std::vector<State> split_groups(const State& state, std::span<const Filter> filters, Leftover leftover) {
  internal::check_placement(filters);
  std::vector<std::vector<State::Entry>> groups(filters.size());
  std::vector<State::Entry> unmatched;
  internal::Program program(filters);
  for (const State::Entry& entry : state) {
    const std::size_t taker = program.first_match(entry.path, entry.variable);
    if (taker != filters.size()) {
      groups[taker].push_back(entry);
    } else if (leftover == Leftover::error) {
      unmatched.push_back(entry);
    }
  }
  if (!unmatched.empty()) throw_leftover(unmatched);
  std::vector<State> result;
  result.reserve(groups.size());
  for (std::vector<State::Entry>& group : groups) result.emplace_back(std::move(group));
  return result;
}

State filter(const State& state, const Filter& filter) {
  return split_groups(state, std::span<const Filter>(&filter, 1), Leftover::drop).front();
}

}  // namespace strata
