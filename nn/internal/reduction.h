// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "strata/nn/losses.h"
#include "strata/tensor/reduce.h"

namespace strata::nn::internal {

inline Tensor reduced(Tensor losses, Reduction reduction) {
  switch (reduction) {
    case Reduction::mean:
      return mean(losses);
    case Reduction::sum:
      return sum(losses);
    case Reduction::none:
      break;
  }
  return losses;
}

}  // namespace strata::nn::internal
