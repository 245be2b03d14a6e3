// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>

#include "strata/tensor/internal/recycler.h"

namespace strata {

// Axes of a tensor; negative ones count from the end. If none is named, all of them.
class Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{axis} {}
  Axes(std::initializer_list<int> axes) : axes_(axes) {}
  // A std::vector, std::array or std::span of them.
  template <class R>
  requires std::convertible_to<const R&, std::span<const int>> Axes(const R& axes) {
    const std::span<const int> named = axes;
    axes_.assign(named.begin(), named.end());
  }

  [[nodiscard]] bool all() const noexcept { return axes_.empty(); }
  [[nodiscard]] std::span<const int> named() const noexcept { return axes_; }

 private:
  internal::List<int> axes_;
};

}  // namespace strata
