// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/scan/scan_start.h"

#include "strata/tensor/error.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent::internal {
void check_feature_axes(const Tensor& x, int num_feature_axes) {
  if (x.rank() > num_feature_axes) return;
  throw ShapeError("[scan] x needs a time axis and " + std::to_string(num_feature_axes) +
                   (num_feature_axes == 1 ? " feature axis" : " feature axes") + ", got " + describe(x) + ".");
}

SequenceAxes sequence_axes(const Tensor& x, int num_feature_axes, bool time_major) {
  check_feature_axes(x, num_feature_axes);
  const int num_batch_axes = x.rank() - num_feature_axes - 1;
  const int time_axis = time_major ? 0 : num_batch_axes;
  const Shape step = x.shape().without_axis(time_axis);
  return {step.axes(0, num_batch_axes), step, x.size(time_axis), time_axis};
}

std::optional<Tensor> checked_resets(const std::optional<Tensor>& resets, const Shape& places) {
  if (!resets) return std::nullopt;
  check_flags("resets", *resets, places, "scan");
  return any_true(*resets) ? resets : std::nullopt;
}

void check_checkpoints(const std::optional<Index>& every) {
  if (!every || *every >= 0) return;
  throw ValueError("[scan] checkpoint_every is " + std::to_string(*every) +
                   ". Pass a number of steps, or 0 for the square root of their number.");
}

void throw_no_initial_carry() {
  throw ValueError("[scan] the cell has no initial carry of its own: there is no `initial_carry(shape)`. Pass one.");
}

Tensor for_batch(const Tensor& row, const Shape& batch) { return broadcast_to(row, batch.append(row.shape())); }

}  // namespace strata::recurrent::internal
