// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "strata/tensor/internal/recycler.h"
#include "strata/tensor/shape.h"

namespace strata::internal {

inline constexpr std::size_t max_operands = 3;
using Offsets = std::array<Index, max_operands>;

// The loops of an elementwise operation over broadcast operands of row-major elements. Axes of size 1 are left out and
// neighbouring axes along which each operand is either repeated or walked through become one: operands of equal shape,
// or an operand of one element, need a single row; a bias added to a batch needs a row per entry. Nothing is copied.
class BroadcastLoops {
 public:
  // Each of the shapes (at most three) broadcasts to `result`.
  BroadcastLoops(const Shape& result, std::span<const Shape* const> operands);

  [[nodiscard]] Index num_rows() const noexcept { return num_rows_; }
  [[nodiscard]] Index row_size() const noexcept { return inner_.size; }

  // For each operand, the distance between neighbours within a row, in elements: 1, or 0 if it is repeated.
  [[nodiscard]] const Offsets& steps() const noexcept { return inner_.strides; }

  // Calls f(row, offsets) for the rows [begin, end), with the offset in elements of each operand at the row's start.
  template <class F>
  void for_each_row(Index begin, Index end, F&& f) const {
    Position position = start(begin);
    for (Index row = begin; row < end; ++row) {
      f(row, position.offsets);
      advance(position);
    }
  }

 private:
  struct Axis {
    Index size;
    Offsets strides;
  };
  struct Position {
    List<Index> counters;  // for each outer axis
    Offsets offsets;
  };

  [[nodiscard]] Position start(Index row) const;
  void advance(Position& position) const;

  List<Axis> outer_;  // innermost first
  Axis inner_{1, {}};
  Index num_rows_ = 1;
};

}  // namespace strata::internal
