// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "strata/recurrent/sequence.h"
#include "strata/tensor/tensor.h"

// What stacks of cells and of layers have in common.
namespace strata::recurrent::internal {

// Throws ValueError if there are no layers.
void check_depth(std::size_t layers, const char* stack);

// Throws ShapeError if there are not as many carries as layers.
void check_num_carries(std::size_t got, std::size_t layers, const char* stack);

// What a layer made of x; with x added if `residual` is set and the shapes agree, of the element type of y.
Tensor link(const Tensor& x, const Tensor& y, bool residual);

// Outputs of a stack behind the last valid step, as asked for; y is [*batch, time, features] or time-major.
Tensor fill_stack_padding(const Tensor& y, const Tensor& lengths, bool time_major, PaddingOutput output);

}  // namespace strata::recurrent::internal
