// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

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

// Outputs of a stack, with those of steps that did not run as asked for, in the order of the input: y is
// [*batch, time, features] or time-major. Lengths, mask and resets are those of the call, which have been checked.
Tensor fill_skipped_steps(const Tensor& y, const std::optional<Tensor>& lengths, const std::optional<Tensor>& mask,
                          const std::optional<Tensor>& resets, bool time_major, PaddingOutput output);

}  // namespace strata::recurrent::internal
