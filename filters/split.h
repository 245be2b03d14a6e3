// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <span>
#include <vector>

#include "strata/filters/filter.h"
#include "strata/state/state.h"

namespace strata {

// What to do with variables that no filter takes.
enum class Leftover { error, drop };

// Sorts the variables of a state into one group for each filter: the first filter that takes a variable gets it. Groups
// keep the order of the paths. A filter that takes nothing gives an empty group; one that every earlier filter has
// emptied, too. Throws FilterError if `rest` is followed by another filter, ValueError if there is no filter, and, with
// Leftover::error, StateError that lists the variables that no filter takes.
[[nodiscard]] std::vector<State> split_groups(const State& state, std::span<const Filter> filters, Leftover leftover);

namespace internal {

// Throws what split_groups throws for the filters alone.
void check_placement(std::span<const Filter> filters);

}  // namespace internal

// The groups of an ordered split, in the order of the filters:
//
//   auto [params, others] = split(state, of_type<Param>, rest);
template <std::convertible_to<Filter>... F>
[[nodiscard]] std::array<State, sizeof...(F)> split(const State& state, const F&... filters) {
  const std::array<Filter, sizeof...(F)> all_filters{Filter(filters)...};
  std::vector<State> groups = split_groups(state, all_filters, Leftover::error);
  std::array<State, sizeof...(F)> result;
  std::move(groups.begin(), groups.end(), result.begin());
  return result;
}

// The variables that the filter takes.
[[nodiscard]] State filter(const State& state, const Filter& filter);

}  // namespace strata
