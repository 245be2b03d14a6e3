// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "strata/filters/filter.h"
#include "strata/state/internal/leaves.h"
#include "strata/state/state.h"

namespace strata {

// What to do with variables that no filter takes.
enum class Leftover { error, drop };

// Sorts the variables of a state into one group for each filter: the first filter that takes a variable gets it. Groups
// keep the order of the paths. A filter that takes nothing gives an empty group; one that every earlier filter has
// emptied, too. Throws FilterError if `rest` is followed by another filter, ValueError if there is no filter, and, with
// Leftover::error, StateError that lists the variables that no filter takes.
[[nodiscard]] std::vector<State> split_groups(State state, std::span<const Filter> filters, Leftover leftover);

namespace internal {

// Throws what split_groups throws for the filters alone.
void check_placement(std::span<const Filter> filters);

// The same for the variables of a module, in the order of their paths.
[[nodiscard]] std::vector<State> split_leaves(std::vector<Leaf> leaves, std::span<const Filter> filters,
                                              Leftover leftover);

template <std::size_t N>
[[nodiscard]] std::array<State, N> to_array(std::vector<State> groups) {
  std::array<State, N> result;
  std::move(groups.begin(), groups.end(), result.begin());
  return result;
}

}  // namespace internal

// The groups of an ordered split, in the order of the filters:
//
//   auto [params, others] = split(state, of_type<Param>, rest);
template <std::convertible_to<Filter>... F>
[[nodiscard]] std::array<State, sizeof...(F)> split(State state, const F&... filters) {
  const std::array<Filter, sizeof...(F)> all_filters{Filter(filters)...};
  return internal::to_array<sizeof...(F)>(split_groups(std::move(state), all_filters, Leftover::error));
}

// The variables that the filter takes.
[[nodiscard]] State filter(State state, const Filter& filter);

}  // namespace strata
