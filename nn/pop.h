// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <span>
#include <vector>

#include "strata/filters/filter.h"
#include "strata/state/internal/node_of.h"
#include "strata/state/state.h"

namespace strata::nn {

namespace internal {

[[nodiscard]] std::vector<State> pop(strata::internal::Node root, std::span<const Filter> filters);

}  // namespace internal

// Takes variables out of a module: one state for each filter, where the first filter that matches takes the variable;
// what no filter takes stays.
//
//   State cache = nn::pop(model, of_type<Cache>);
//
// A field of a C++ type cannot go away, but it can become empty: what can be popped stands in a std::optional,
// unique_ptr or shared_ptr, which is left empty, or is an element of a std::map or std::vector, which is erased; the
// elements of a vector that stand behind it move up. A variable that several places share leaves all of them. Throws
// StateError that lists variables which are plain fields; nothing is changed then.
template <class M, std::convertible_to<Filter>... F>
requires(sizeof...(F) > 0) [[nodiscard]] auto pop(M& module, const F&... filters) {
  std::vector<State> groups =
      internal::pop(strata::internal::node_of(module), std::array<Filter, sizeof...(F)>{Filter(filters)...});
  if constexpr (sizeof...(F) == 1) {
    return std::move(groups.front());
  } else {
    std::array<State, sizeof...(F)> result;
    std::move(groups.begin(), groups.end(), result.begin());
    return result;
  }
}

}  // namespace strata::nn
