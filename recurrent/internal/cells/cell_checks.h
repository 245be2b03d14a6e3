// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>

#include "strata/recurrent/carry.h"
#include "strata/recurrent/cell.h"
#include "strata/tensor/tensor.h"

namespace strata::recurrent::internal {

// gates * hidden_features, the columns of the kernels of a cell. Throws ShapeError unless both sizes are positive and
// small enough that kernels of so many columns can be counted.
Index gate_columns(const char* cell, Index in_features, Index hidden_features, Index gates);

// Throws ValueError if one of a cell's functions is null.
void check_functions(const char* cell, std::initializer_list<Activation> functions);

// Throws ShapeError unless x is [*batch, *space, in_features].
void check_input(const char* cell, const Tensor& x, Index in_features, int spatial_axes = 0);

// Throws ShapeError, naming the part of the carry, unless it is [*batch, hidden] for x's batch axes; DTypeError unless
// it is floating.
void check_carry(const char* cell, const char* part, const Tensor& value, const Tensor& x, Index hidden);

// [*batch, *space, hidden] for an input [*batch, *space, in_features]. Throws ShapeError if it lacks axes.
Shape carry_shape(const char* cell, const Shape& input, Index hidden, int spatial_axes = 0);

// Zeros of that shape and of the type of a recurrent kernel [hidden, ...].
HiddenCarry zero_hidden_carry(const char* cell, const Shape& input, const Tensor& recurrent_kernel);

}  // namespace strata::recurrent::internal
