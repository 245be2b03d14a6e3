// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/cells/depth.h"

#include <fmt/format.h>

#include "strata/recurrent/internal/scan/skipped_steps.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/error.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent::internal {

void check_depth(std::size_t layers, const char* stack) {
  if (layers == 0) throw ValueError(fmt::format("[{}] there are no layers. Give at least one.", stack));
}

void check_num_carries(std::size_t got, std::size_t layers, const char* stack) {
  if (got == layers) return;
  throw ShapeError(fmt::format("[{}] {} carries for {} layers. Give one for each.", stack, got, layers));
}

Tensor link(const Tensor& x, const Tensor& y, bool residual) {
  return residual && x.shape() == y.shape() ? (x + y).astype(y.dtype()) : y;
}

Tensor fill_skipped_steps(const Tensor& y, const std::optional<Tensor>& lengths, const std::optional<Tensor>& mask,
                          const std::optional<Tensor>& resets, bool time_major, PaddingOutput output) {
  if (!mask && (!lengths || output == PaddingOutput::keep)) return y;
  const int time_axis = time_major ? 0 : mask ? mask->rank() - 1 : lengths->rank();
  const Index time = y.size(time_axis);
  const Tensor runs = mask ? *mask : prefix_mask(*lengths, time, time_axis);
  const Index rows = runs.shape().without_axis(time_axis).num_elements();
  const SequenceShape shape{.rows = padded_rows(rows, time, nullptr, time_major),
                            .steps = time,
                            .stride = time_major ? rows : 1,
                            .padding = output};
  const SkippedSteps steps(shape, time_axis, runs, resets);
  return steps.apart(steps.together(y));
}

}  // namespace strata::recurrent::internal
