// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/recurrent/internal/kernels/row_order.h"
#include "strata/tensor/tensor.h"

// Sequences of which some steps do not run.
namespace strata::recurrent::internal {

// bool, true at the first lengths[b] of `time` steps of each row. Lengths are [*batch] within range.
[[nodiscard]] Tensor prefix_mask(const Tensor& lengths, Index time, int time_axis);

// Resets, [*batch, time] as the mask: where an episode begins with steps that are skipped, its first step that runs is
// flagged instead.
[[nodiscard]] Tensor resets_at_running_steps(const Tensor& resets, const Tensor& mask, int time_axis);

// The steps of a batch that a mask lets run, moved together so that all of a row's other steps are padding behind them,
// and outputs moved back to where they belong. Steps behind a row's last one that runs are its padding before and
// after; those that are skipped before it have the output of the step of their episode that was processed last, or
// zero.
class SkippedSteps {
 public:
  // `shape` is that of the whole batch. `mask`, and `resets` if episodes begin somewhere, are bool,
  // [*batch, time] or time-major.
  SkippedSteps(SequenceShape shape, int time_axis, const Tensor& mask, const std::optional<Tensor>& resets);

  // Whether there are skipped steps before others; if not, lengths say all that the mask says.
  [[nodiscard]] bool has_holes() const noexcept { return has_holes_; }

  // int64 [*batch]: how many steps of each row run.
  [[nodiscard]] const Tensor& counts() const noexcept { return counts_; }

  // x with the steps that run at the front of each row, and as many steps as are needed.
  [[nodiscard]] Tensor together(const Tensor& x) const;

  // The resets of those.
  [[nodiscard]] const std::optional<Tensor>& resets() const noexcept { return resets_; }

  // Outputs of those in the order of processing, where the shape wants them. Padding is computed if it is kept there.
  [[nodiscard]] Tensor apart(const Tensor& y) const;

  // The same of what a step leaves behind, [*batch, time, *part]: where no step has run, what there was before, part
  // [*batch, *part] of the initial carry or, in an episode that has begun at a flag, of the carry to reset to.
  [[nodiscard]] Tensor apart(const Tensor& part, const Tensor& initial, const Tensor& reset) const;

 private:
  class Moves;

  // Entry shown_ + first of each row of x, zero where that is negative.
  [[nodiscard]] Tensor entries(const Tensor& x, Index first) const;

  int time_axis_;
  bool has_holes_ = false;
  Tensor counts_;
  std::optional<Tensor> resets_;
  Tensor sources_;  // for each place of the steps moved together, the place that it comes from
  Tensor shown_;    // for each place of the outputs, the number of the step that it shows, or one of those below
};

}  // namespace strata::recurrent::internal
