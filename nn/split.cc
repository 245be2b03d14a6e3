// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/split.h"

namespace strata::nn::internal {

void update_leaves(const std::vector<strata::internal::Leaf>& leaves, std::span<const State> states) {
  using strata::internal::Fit;
  const std::vector<strata::internal::Expected> expected = strata::internal::expect(leaves);
  for (const State& state : states) strata::internal::check_fit(expected, state, Fit::partial, "update");
  for (const State& state : states) strata::internal::assign_leaves(leaves, state, Fit::partial);
}

}  // namespace strata::nn::internal
