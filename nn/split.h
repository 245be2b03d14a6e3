// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <tuple>
#include <utility>
#include <vector>

#include "strata/filters/split.h"
#include "strata/state/graph_def.h"
#include "strata/state/internal/leaves.h"

// A module is taken apart into its graph definition and states, and put together again.
//
// A module here is a struct with STRATA_FIELDS, a container of them, or a shared_ptr to one. A variable that several
// places share has one path: the smallest in the order of keys.
namespace strata::nn {

namespace internal {

template <class M, class... F>
std::array<State, sizeof...(F)> groups_of(const M& module, Leftover leftover, const F&... filters) {
  const std::array<Filter, sizeof...(F)> all_filters{Filter(filters)...};
  return strata::internal::to_array<sizeof...(F)>(strata::internal::split_leaves(
      strata::internal::collect_leaves(strata::internal::node_of(module)), all_filters, leftover));
}

}  // namespace internal

// The values of all variables of a module, or, given filters, one state for each; variables that no filter takes are
// dropped.
template <class M>
[[nodiscard]] State state(const M& module) {
  return strata::internal::state_of(strata::internal::node_of(module));
}
template <class M, std::convertible_to<Filter>... F>
requires(sizeof...(F) > 1) [[nodiscard]] std::array<State, sizeof...(F)> state(const M& module, const F&... filters) {
  return internal::groups_of(module, Leftover::drop, filters...);
}
template <class M>
[[nodiscard]] State state(const M& module, const Filter& filter) {
  return std::move(internal::groups_of(module, Leftover::drop, filter).front());
}

// What is left of a module when the values of its variables are taken out.
template <class M>
[[nodiscard]] GraphDef<M> graph_def(const M& module) {
  return GraphDef<M>(module);
}

// The graph definition and the groups of an ordered split; the first filter that matches takes the variable. Without
// filters, the one group of all variables. No tensor is copied, and writing to a group never changes the module. Throws
// StateError that lists the variables that no filter takes, FilterError if `rest` is not at the end.
//
//   auto [graph, params, others] = nn::split(model, of_type<Param>, rest);
template <class M, std::convertible_to<Filter>... F>
[[nodiscard]] auto split(const M& module, const F&... filters) {
  if constexpr (sizeof...(F) == 0) {
    State whole = state(module);
    return std::tuple<GraphDef<M>, State>(strata::internal::graph_of_walked(module), std::move(whole));
  } else {
    std::array<State, sizeof...(F)> groups = internal::groups_of(module, Leftover::error, filters...);
    return std::tuple_cat(std::tuple<GraphDef<M>>(strata::internal::graph_of_walked(module)), std::move(groups));
  }
}

// A new module of the type that was split, with the values of the states, in any order. Places that shared an object
// share a new one. Throws StateError that lists paths that are missing, unexpected, given twice, or differ in shape,
// type or kind.
template <class M, std::same_as<State>... S>
[[nodiscard]] M merge(const GraphDef<M>& graph, const State& first, const S&... others) {
  const std::array<const State*, 1 + sizeof...(S)> states{&first, &others...};
  return graph.build(states);
}

// Gives variables of the module the values and metadata of the states; later states win, variables that no state has
// stay as they are. Throws StateError that lists everything that does not fit, before anything is changed.
template <class M, std::same_as<State>... S>
void update(M& module, const State& first, const S&... others) {
  const std::array<const State*, 1 + sizeof...(S)> states{&first, &others...};
  strata::internal::update_variables(strata::internal::node_of(module), states);
}

// A module of its own with the same values: nothing that happens to the one is seen in the other. A C++ copy, in
// contrast, shares the objects that its shared_ptrs point to.
template <class M>
[[nodiscard]] M clone(const M& module) {
  return strata::internal::clone(module);
}

}  // namespace strata::nn
