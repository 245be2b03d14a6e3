// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include "strata/state/internal/state_access.h"
#include "strata/state/state.h"

namespace strata {

// A state with the same paths, where f(path, variable) says what stands at each: a Tensor, which takes the kind and the
// metadata of the variable before it, or a Variable.
//
//   map_values(state, [](const Path&, const Variable& v) { return v.value().astype(DType::float64); })
template <class F>
requires std::invocable<F&, const Path&, const Variable&>
[[nodiscard]] State map_values(State state, F f) {
  std::vector<State::Entry> entries = internal::StateAccess::entries(std::move(state));
  for (auto& [path, variable] : entries) {
    auto value = std::invoke(f, std::as_const(path), std::as_const(variable));
    if constexpr (std::derived_from<decltype(value), Variable>) {
      variable = std::move(value);
    } else {
      variable.reset(Tensor(std::move(value)));
    }
  }
  return internal::StateAccess::from_sorted(std::move(entries));
}

}  // namespace strata
