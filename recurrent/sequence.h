// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/tensor/tensor.h"

namespace strata::recurrent {

struct FlipOptions {
  int num_batch_dims = 1;   // how many leading axes are batch axes; they are [*batch] of the lengths
  bool time_major = false;  // the time axis comes first, before the batch axes
};

// x with the steps of each sequence in reverse order. x is [*batch, time, *features], or [time, *batch, *features].
//
// Without lengths the whole time axis is reversed. With lengths (integers [*batch]) step t takes step (time - 1 - t +
// length) mod time of its row: valid steps are reversed in place, the padding stays behind them, itself reversed; a row
// of length 0 is reversed as a whole. The function is its own inverse. Differentiable. Throws ShapeError if x has no
// time axis or the lengths are not [*batch], DTypeError if they are not integers, ValueError if one is not in [0,
// time].
[[nodiscard]] Tensor flip_sequences(const Tensor& x, const std::optional<Tensor>& lengths = {},
                                    FlipOptions options = {});

namespace internal {

// Lengths as int64 of shape `batch`, checked. Throws as flip_sequences does; errors start with `[operation]`.
Tensor checked_lengths(const Tensor& lengths, const Shape& batch, Index time, const char* operation);

// x as it is, except that a gradient of nothing but zeros ends here: what was computed from invalid input (NaN in
// padding) and did not matter to the loss cannot spoil gradients through 0 * NaN.
Tensor block_zero_gradient(const Tensor& x);

// bool [*batch]: rows with more than t valid steps.
Tensor rows_longer_than(const Tensor& lengths, Index t);

// Where the condition [*batch] holds a, elsewhere b, both of shape [*batch, *features].
Tensor select_rows(const Tensor& condition, const Tensor& a, const Tensor& b);

}  // namespace internal
}  // namespace strata::recurrent
