// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <span>

#include "strata/state/state.h"

// Several states made into one, and the difference of two. Each takes time in proportion to the number of entries.
namespace strata {

namespace internal {

[[nodiscard]] State merge_states(std::span<const State* const> states);
[[nodiscard]] State overlay_states(std::span<const State* const> states);

}  // namespace internal

// All entries of all states, which hold different paths. Throws StateError that lists the paths that several states
// hold, and those that hold a variable in one state and lead to others in another.
[[nodiscard]] State merge(std::span<const State> states);
template <std::same_as<State>... S>
[[nodiscard]] State merge(const State& first, const S&... others) {
  return internal::merge_states(std::array<const State*, 1 + sizeof...(S)>{&first, &others...});
}

// The states laid over one another: of several variables at one path the one of the last state is seen. A variable of a
// later state also covers all that earlier ones have below its path. Throws StateError that lists the paths at which an
// earlier state has a variable and a later one leads further: the variable would be lost to a part of a module.
//
//   overlay(State{{{"a"}, x}, {{"b"}, y}}, State{{{"b"}, z}})    // a: x, b: z
[[nodiscard]] State overlay(std::span<const State> states);
template <std::same_as<State>... S>
[[nodiscard]] State overlay(const State& first, const S&... others) {
  return internal::overlay_states(std::array<const State*, 1 + sizeof...(S)>{&first, &others...});
}

// The entries of a at whose paths b has no variable.
[[nodiscard]] State difference(const State& a, const State& b);

}  // namespace strata
