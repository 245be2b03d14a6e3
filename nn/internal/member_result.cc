// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/member_result.h"

#include "strata/state/internal/fitting.h"

namespace strata::nn::internal {

void MemberResult<State>::parts(const State& result, std::vector<Tensor>& tensors) {
  for (const State::Entry& entry : result) tensors.push_back(entry.variable.value());
}

void MemberResult<State>::axes(const State& result, const MemberLayout& layout, std::vector<int>& axes) {
  for (const State::Entry& entry : result) {
    const MemberLayout::Place* place = layout.find(entry.path);
    axes.push_back(place != nullptr ? place->axis.value_or(0) : 0);
  }
}

void MemberResult<State>::check_alike(const State& first, const State& other) {
  strata::internal::check_same_form(first, other, "Ensemble");
}

State MemberResult<State>::join(const State& first, TensorReader& next) {
  State result = first;
  for (const State::Entry& entry : first) result.at(entry.path).reset(*next++);
  return result;
}

}  // namespace strata::nn::internal
