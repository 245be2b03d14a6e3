// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "strata/recurrent/internal/scan/carry_check.h"
#include "strata/tensor/tensor.h"

// What streams have in common.
namespace strata::recurrent::internal {

// Ends the program, with a message on the standard error stream, unless spans have the expected sizes: a step that runs
// in real time has nobody to catch an error.
void require_step_sizes(std::size_t in, Index expected_in, std::size_t out, Index expected_out) noexcept;

// Checks of a stream's shapes; they throw ShapeError or DTypeError.
Index checked_batch(Index batch);
void check_cell_input(std::size_t cell, Index expected, Index got);  // of a cell in a stack

// Of a carry that a stream is to go on from.
inline constexpr CarryCheck stream_carry_check{"Stream::set_state", "carry"};

// Throws DTypeError unless an output is float32, GradientError if it is tracked.
void check_stream_output(const Tensor& y);

// The same elements in memory of their own.
[[nodiscard]] Tensor deep_copy(const Tensor& x);

}  // namespace strata::recurrent::internal
