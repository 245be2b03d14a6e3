// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/tensor.h"

namespace strata::nn::internal {

// x / keep where the mask (bool, broadcasts to x) says so, 0 elsewhere; of the element type of x, which is floating.
// Differentiable in x.
[[nodiscard]] Tensor drop(const Tensor& x, const Tensor& kept, double keep);

}  // namespace strata::nn::internal
