// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "strata/tensor/tensor.h"

namespace strata::recurrent::internal {

// Throws ShapeError unless both sizes are positive.
void check_sizes(const char* cell, Index in_features, Index hidden_features);

// Throws ShapeError unless x is [*batch, in_features].
void check_input(const char* cell, const Tensor& x, Index in_features);

// Throws ShapeError, naming the part of the carry, unless it is [*batch, hidden] for x's batch axes; DTypeError unless
// it is floating.
void check_carry(const char* cell, const char* part, const Tensor& value, const Tensor& x, Index hidden);

// [*batch, hidden] for an input [*batch, in_features]. Throws ShapeError if there is no feature axis.
Shape carry_shape(const char* cell, const Shape& input, Index hidden);

}  // namespace strata::recurrent::internal
