// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/scan.h"

#include <vector>

#include "strata/tensor/error.h"

namespace strata::recurrent::internal {
namespace {

// Throws unless both agree in shape and element type; message() says what is wrong.
template <class F>
void check_part(const Tensor& got, const Tensor& expected, const F& message) {
  if (got.shape() != expected.shape()) throw ShapeError(message());
  if (got.dtype() != expected.dtype()) throw DTypeError(message());
}

}  // namespace

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

void check_given_part(const std::string& part, const Tensor& got, const Tensor& expected) {
  check_part(got, expected, [&] {
    return "[scan] part `" + part + "` of the initial carry is " + describe(got) + ", expected " + describe(expected) +
           ".";
  });
}

void check_returned_part(const std::string& part, const Tensor& got, const Tensor& expected) {
  check_part(got, expected, [&] {
    return "[scan] the cell has made " + describe(got) + " of part `" + part + "` of the carry, which was " +
           describe(expected) + ". Let a step keep shapes and element types.";
  });
}

void check_output(const Tensor& y, const Shape& batch) {
  if (y.rank() >= batch.rank() && y.shape().axes(0, batch.rank()) == batch) return;
  throw ShapeError("[scan] the cell's output is " + describe(y) + ", expected the batch axes " + to_string(batch) +
                   " first.");
}

void throw_no_initial_carry() {
  throw ValueError("[scan] the cell has no initial carry of its own: there is no `initial_carry(shape)`. Pass one.");
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
