// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/scan.h"

#include <algorithm>
#include <vector>

#include "strata/tensor/compare.h"
#include "strata/tensor/error.h"
#include "strata/tensor/index.h"

namespace strata::recurrent::internal {

SequenceAxes sequence_axes(const Tensor& x, int num_feature_axes, bool time_major) {
  const int num_batch_axes = x.rank() - num_feature_axes - 1;
  if (num_batch_axes < 0) {
    throw ShapeError("[scan] x needs a time axis and " + std::to_string(num_feature_axes) +
                     (num_feature_axes == 1 ? " feature axis" : " feature axes") + ", got " + describe(x) + ".");
  }
  const int time_axis = time_major ? 0 : num_batch_axes;
  const Shape step = x.shape().without_axis(time_axis);
  return {step.axes(0, num_batch_axes), step, x.size(time_axis), time_axis};
}

void check_carry_part(const std::string& part, const Tensor& got, const Tensor& expected) {
  const std::string name = part.empty() ? "the initial carry" : "part `" + part + "` of the initial carry";
  if (got.shape() != expected.shape()) {
    throw ShapeError("[scan] " + name + " is " + describe(got) + ", expected " + describe(expected) + ".");
  }
  if (got.dtype() != expected.dtype()) {
    throw DTypeError("[scan] " + name + " is " + describe(got) + ", expected " + describe(expected) + ".");
  }
}

void block_carry_gradient(const std::string&, Tensor& value) { value = block_zero_gradient(value); }

bool all_true(const Tensor& flags) {
  const std::span<const bool> values = flags.data<bool>();
  return std::all_of(values.begin(), values.end(), [](bool flag) { return flag; });
}

Tensor fill_padding(const Tensor& y, const Tensor& lengths, PaddingOutput output) {
  const Index time = y.size(0);
  std::vector<Tensor> steps;
  for (Index t = 0; t < time; ++t) {
    const Tensor before = t > 0 && output == PaddingOutput::repeat_last ? steps.back() : zeros_like(y[t]);
    steps.push_back(select_rows(rows_longer_than(lengths, t), y[t], before));
  }
  return time == 0 ? y : stack(steps, 0);
}

}  // namespace strata::recurrent::internal
