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

Tensor internal::merged(MergeFunction merge, const Tensor& forward, const Tensor& backward, const Shape& leading) {
  Tensor y = merge(forward, backward);
  if (y.rank() >= leading.rank() && y.shape().axes(0, leading.rank()) == leading) return y;
  throw ShapeError("[Bidirectional] `merge` has made " + describe(y) + " of the outputs " + describe(forward) +
                   " and " + describe(backward) + ", expected the axes " + to_string(leading) +
                   " first. Let it change features alone.");
}

}  // namespace strata::recurrent
