// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/scan/scan_by_steps.h"

#include "strata/tensor/error.h"

namespace strata::recurrent::internal {

void check_output(const Tensor& y, const Shape& batch) {
  if (y.rank() >= batch.rank() && y.shape().axes(0, batch.rank()) == batch) return;
  throw ShapeError("[scan] the cell's output is " + describe(y) + ", expected the batch axes " + to_string(batch) +
                   " first.");
}

void block_carry_gradient(const std::string&, Tensor& value) { value = block_zero_gradient(value); }

Tensor fill_padding(const Tensor& y, const Tensor& lengths, PaddingOutput output) {
  std::vector<Tensor> steps = steps_of(y);
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const Tensor before = t > 0 && output == PaddingOutput::repeat_last ? steps[t - 1] : zeros_like(steps[t]);
    steps[t] = select_rows(rows_longer_than(lengths, static_cast<Index>(t)), steps[t], before);
  }
  return steps.empty() ? y : stack(steps, 0);
}

}  // namespace strata::recurrent::internal
