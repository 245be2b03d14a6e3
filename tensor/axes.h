// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace strata {

// Axes of a tensor; negative ones count from the end. If none is named, all of them.
class Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{axis} {}
  Axes(std::initializer_list<int> axes) : axes_(axes) {}
  Axes(std::vector<int> axes) : axes_(std::move(axes)) {}

  [[nodiscard]] bool all() const noexcept { return axes_.empty(); }
  [[nodiscard]] std::span<const int> named() const noexcept { return axes_; }

 private:
  std::vector<int> axes_;
};

}  // namespace strata
