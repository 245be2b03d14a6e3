// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/tensor/tensor.h"

namespace strata::recurrent {

// What the outputs behind a sequence's last valid step are. At steps that a mask skips before that (see scan), where
// nothing is made of x, `keep` is `repeat_last`.
enum class PaddingOutput {
  keep,         // what the cell makes of the padding, as in Flax
  zero,         // zero, as in PyTorch and ONNX
  repeat_last,  // the output of the last valid step, as in Keras; zero in a sequence of length 0
};

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

}  // namespace strata::recurrent
