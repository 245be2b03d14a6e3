// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/member_result.h"

#include <utility>

#include "strata/state/internal/fitting.h"
#include "strata/state/internal/state_access.h"

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
  std::vector<State::Entry> entries = strata::internal::StateAccess::entries(first);
  for (State::Entry& entry : entries) entry.variable.reset(*next++);
  return strata::internal::StateAccess::from_sorted(std::move(entries));
}

}  // namespace strata::nn::internal
