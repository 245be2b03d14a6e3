// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/bidirectional.h"

namespace strata::recurrent {

Tensor concatenate_features(const Tensor& forward, const Tensor& backward) {
  return concatenate({forward, backward}, -1);
}

}  // namespace strata::recurrent
