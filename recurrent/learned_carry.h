// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "strata/nn/initializers.h"
#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/cells/learned_parts.h"
#include "strata/recurrent/internal/scan/fused.h"
#include "strata/state/rngs.h"
#include "strata/state/variable.h"

namespace strata::recurrent {

// A cell whose sequences begin with a carry that is learned: a parameter for every part, the same for all rows of a
// batch. A carry that a call gives takes its place. Paths: `cell/...`, and `initial/c`, `initial/h`, or whatever leads
// to a part in the cell's carry (`initial/0/h`).
template <SelfStartingCell C>
struct LearnedCarry {
  using Carry = typename C::Carry;
  using Sequence = SequenceOf<C>;
  static constexpr int num_feature_axes = C::num_feature_axes;

  // `features` is the shape of one row's input at one step, without batch axes: {in_features} for most cells. The
  // parameters have the shapes and types of the cell's own carry for it, and are drawn from the stream `params`.
  LearnedCarry(C inner, const Shape& features, Rngs& rngs, const nn::Initializer& init = nn::initializers::zeros())
      : cell(std::move(inner)) {
    auto draw = [&](const Tensor& part) { return init(rngs.draw("params"), part.shape(), part.dtype()); };
    initial = internal::make_learned_parts(cell.initial_carry(features), draw);
  }

  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    return (*this)(carry, x, begin_sequence(carry, x.shape()));
  }

  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x, const Sequence& sequence) {
    return step(cell, carry, x, sequence);
  }

  [[nodiscard]] Sequence begin_sequence(const Carry& carry, const Shape& input) {
    return recurrent::begin_sequence(cell, carry, input);
  }

  // The parameters, for each row of an input of shape [*batch, *features].
  [[nodiscard]] Carry initial_carry(const Shape& input) const {
    Carry carry = cell.initial_carry(input);
    const Shape batch = input.axes(0, input.rank() - num_feature_axes);
    internal::with_learned_parts(carry, initial,
                                 [&](Tensor& part, const Tensor& row) { part = internal::for_batch(row, batch); });
    return carry;
  }

  [[nodiscard]] std::optional<internal::FusedCell> fused() const requires internal::FusableCell<C> {
    return cell.fused();
  }

  C cell;
  internal::LearnedParts<Carry> initial;  // lists as in the carry; of a struct, a map with the names of its fields

  STRATA_FIELDS(cell, initial)
};

}  // namespace strata::recurrent
