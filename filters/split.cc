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
  internal::Program program(filters);
  std::vector<std::size_t> takers;  // known for all variables before groups are made, so that groups never grow
  takers.reserve(static_cast<std::size_t>(state.size()));
  std::vector<std::size_t> sizes(filters.size() + 1);
  for (const auto& [path, variable] : state) {
    takers.push_back(program.first_match(path, variable));
    ++sizes[takers.back()];
  }
  std::vector<std::vector<State::Entry>> groups(filters.size() + 1);  // the last one of what no filter takes
  const std::size_t kept = leftover == Leftover::error ? groups.size() : filters.size();
  for (std::size_t i = 0; i < kept; ++i) groups[i].reserve(sizes[i]);
  for (std::size_t i = 0; i < takers.size(); ++i) {
    if (takers[i] < kept) groups[takers[i]].push_back(state.begin()[static_cast<std::ptrdiff_t>(i)]);
  }
  const std::vector<State::Entry> unmatched = std::move(groups.back());
  groups.pop_back();
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
