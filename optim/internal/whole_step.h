// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "strata/optim/transformation.h"

namespace strata::optim::internal {

// rule.step(params, gradients, memory), of which all happens or, if it throws, nothing. Without copies where the rule
// writes last and elements are shared with no other tensor. Throws ShapeError or DTypeError if the rule gives a
// parameter another shape or element type.
void whole_step(const Transformation::Rule& rule, std::span<Tensor> params, std::vector<Tensor> gradients,
                Memory& memory);

}  // namespace strata::optim::internal
