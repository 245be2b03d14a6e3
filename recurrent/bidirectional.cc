// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/bidirectional.h"

#include "strata/tensor/error.h"

namespace strata::recurrent {

Tensor concatenate_features(const Tensor& forward, const Tensor& backward) {
  return concatenate({forward, backward}, -1);
}

BidirectionalOptions internal::checked(const BidirectionalOptions& options) {
  if (options.merge != nullptr) return options;
  throw ValueError(
      "[Bidirectional] the function to merge with is null. Leave the option out for concatenate_features.");
}

}  // namespace strata::recurrent
