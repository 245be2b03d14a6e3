// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/cells/depth.h"
#include "strata/recurrent/internal/scan/scan_by_steps.h"

namespace strata::recurrent {

struct StackedCellOptions {
  bool residual = false;  // adds its input to the output of every cell that leaves the shape as it is
  bool operator==(const StackedCellOptions&) const = default;
};

// Cells in depth that act as one: within a step each takes the output of the one before. The carry is the list of
// theirs. This is for what goes step by step: over whole sequences `Stacked` does the same layer by layer, and faster.
// Paths: `cells/0/...`.
template <Cell C>
struct StackedCell {
  // A std::vector, but that a stream's steps take its memory from no heap.
  using Carry = strata::internal::List<typename C::Carry>;
  using Sequence = std::vector<SequenceOf<C>>;
  static constexpr int num_feature_axes = C::num_feature_axes;

  // Throws ValueError if there are no cells.
  explicit StackedCell(std::vector<C> members, const StackedCellOptions& stack_options = {})
      : cells(std::move(members)), options(stack_options) {
    internal::check_depth(cells.size(), "StackedCell");
  }

  // The new carries, and the output of the last cell. Throws ShapeError if there are not as many carries as cells.
  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    return (*this)(carry, x, begin_sequence(carry, x.shape()));
  }

  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x, const Sequence& sequence) {
    internal::check_num_carries(carry.size(), cells.size(), "StackedCell");
    Step<Carry> result{{}, x};
    result.carry.reserve(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      Step<typename C::Carry> layer = step(cells[i], carry[i], result.y, sequence[i]);
      result.carry.push_back(std::move(layer.carry));
      result.y = internal::link(result.y, layer.y, options.residual);
    }
    return result;
  }

  [[nodiscard]] Sequence begin_sequence(const Carry& initial, const Shape& input) {
    internal::check_num_carries(initial.size(), cells.size(), "StackedCell");
    if constexpr (!SequenceCell<C>) {
      return Sequence(cells.size());
    } else {
      Sequence sequence;
      Shape shape = input;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        sequence.push_back(recurrent::begin_sequence(cells[i], initial[i], shape));
        if (i + 1 < cells.size()) shape = output_shape(cells[i], initial[i], shape);
      }
      return sequence;
    }
  }

  [[nodiscard]] Carry initial_carry(const Shape& input) const requires SelfStartingCell<C> {
    Carry carry;
    Shape shape = input;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      carry.push_back(cells[i].initial_carry(shape));
      if (i + 1 < cells.size()) shape = output_shape(cells[i], carry[i], shape);
    }
    return carry;
  }

  std::vector<C> cells;
  StackedCellOptions options;

  STRATA_FIELDS(cells, options)

 private:
  // The shape of what a cell puts out, which only a step can tell.
  [[nodiscard]] static Shape output_shape(const C& cell, const typename C::Carry& carry, const Shape& input) {
    return internal::step_aside(cell, carry, zeros(input)).y.shape();
  }
};

template <class C>
StackedCell(std::initializer_list<C>, const StackedCellOptions& = {}) -> StackedCell<C>;

}  // namespace strata::recurrent
