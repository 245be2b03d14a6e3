// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/cells/depth.h"

#include <fmt/format.h>

#include "strata/recurrent/internal/scan/row_masks.h"
#include "strata/recurrent/internal/scan/scan_by_steps.h"
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

Tensor fill_stack_padding(const Tensor& y, const Tensor& lengths, bool time_major, PaddingOutput output) {
  const int time_axis = time_major ? 0 : lengths.rank();
  const Tensor time_first = move_axis(y, time_axis, 0);
  const Tensor checked = checked_lengths(lengths, lengths.shape(), time_first.size(0), "scan");
  return move_axis(fill_padding(time_first, checked, output), 0, time_axis);
}

}  // namespace strata::recurrent::internal
