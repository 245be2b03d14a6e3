// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/tensor/tensor.h"

// Rows of a batch by their lengths, and what keeps the numbers of some rows away from others.
namespace strata::recurrent::internal {

// Lengths as int64 of shape `batch`, checked. Throws as flip_sequences does; errors start with `[operation]`.
Tensor checked_lengths(const Tensor& lengths, const Shape& batch, Index time, const char* operation);

// Throws unless the flags `name` are bool, one for each of the places; errors likewise.
void check_flags(const std::string& name, const Tensor& flags, const Shape& places, const char* operation);

// Throws unless a mask, if there is one, fits the places and no lengths are given beside it; errors likewise.
void check_mask(const std::optional<Tensor>& mask, const std::optional<Tensor>& lengths, const Shape& places,
                const char* operation);

// bool [*batch]: rows with more than t valid steps.
Tensor rows_longer_than(const Tensor& lengths, Index t);

// Where the condition [*batch] holds a, elsewhere b, both of shape [*batch, *features].
Tensor select_rows(const Tensor& condition, const Tensor& a, const Tensor& b);

// Clears the flags [*batch] of the rows where x, [*batch, *features], holds infinities or NaN.
void clear_invalid_rows(const Tensor& x, Tensor& flags);

[[nodiscard]] bool all_true(const Tensor& flags);
[[nodiscard]] bool any_true(const Tensor& flags);

// x as it is, except that a gradient of nothing but zeros ends here: what was computed from invalid input (NaN in
// padding) and did not matter to the loss cannot spoil gradients through 0 * NaN.
Tensor block_zero_gradient(const Tensor& x);

// x cut along its first axis, which is dropped. The gradient costs one pass over x, however many steps there are.
std::vector<Tensor> steps_of(const Tensor& x);

// x cut along its first axis into parts of these sizes, whose sum is its own; likewise.
std::vector<Tensor> cut_rows(const Tensor& x, std::span<const Index> sizes);

}  // namespace strata::recurrent::internal
