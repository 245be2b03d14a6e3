// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "strata/nn/initializers.h"
#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/fused.h"
#include "strata/state/rngs.h"
#include "strata/state/variable.h"

namespace strata::recurrent {

// A cell whose sequences begin with a carry that is learned: a parameter for every part, the same for all rows of a
// batch. A carry that a call gives takes its place. Paths: `cell/...`, and `initial/c`, `initial/h`, or whatever leads
// to a part in the cell's carry (`initial/0.h`).
template <SelfStartingCell C>
struct LearnedCarry {
  using Carry = typename C::Carry;
  using Sequence = SequenceOf<C>;
  static constexpr int num_feature_axes = C::num_feature_axes;

  // `features` is the shape of one row's input at one step, without batch axes: {in_features} for most cells. The
  // parameters have the shapes and types of the cell's own carry for it, and are drawn from the stream `params`.
  LearnedCarry(C inner, const Shape& features, Rngs& rngs, const nn::Initializer& init = nn::initializers::zeros())
      : cell(std::move(inner)) {
    const Carry own = cell.initial_carry(features);
    internal::for_each_tensor(
        [&](const std::string& part, const Tensor& value) {
          initial.emplace(part, Param(init(rngs.draw("params"), value.shape(), value.dtype())));
        },
        "", own);
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
    internal::for_each_tensor(
        [&](const std::string& part, Tensor& value) { value = internal::for_batch(initial.at(part), batch); }, "",
        carry);
    return carry;
  }

  [[nodiscard]] std::optional<internal::FusedCell> fused() const requires internal::FusableCell<C> {
    return cell.fused();
  }

  C cell;
  std::map<std::string, Param> initial;

  STRATA_FIELDS(cell, initial)
};

}  // namespace strata::recurrent
