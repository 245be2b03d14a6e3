// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/sequence.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "strata/recurrent/internal/scan/row_masks.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"

namespace strata::recurrent {
namespace {

// A sequence as rows of steps of equal size, wherever the time axis is.
struct Steps {
  Index rows;
  Index time;
  std::size_t bytes;        // of one step of one row
  std::size_t row_stride;   // in steps
  std::size_t time_stride;  // in steps
};

Steps steps_of(const Tensor& x, const Shape& batch, FlipOptions options) {
  const Index rows = batch.num_elements();
  const Index time = x.size(options.time_major ? 0 : options.num_batch_dims);
  const Index step = x.shape().axes(options.num_batch_dims + 1, x.rank()).num_elements();
  return {rows, time, static_cast<std::size_t>(step) * static_cast<std::size_t>(size_in_bytes(x.dtype())),
          static_cast<std::size_t>(options.time_major ? 1 : time),
          static_cast<std::size_t>(options.time_major ? rows : 1)};
}

Tensor flip_rows(const Tensor& x, const std::vector<Index>& lengths, const Steps& steps) {
  Tensor result = Tensor::uninitialized(x.shape(), x.dtype());
  const std::byte* from = x.bytes().data();
  std::byte* to = result.mutable_bytes().data();
  for (Index row = 0; row < steps.rows; ++row) {
    const std::size_t first = static_cast<std::size_t>(row) * steps.row_stride;
    for (Index t = 0; t < steps.time; ++t) {
      const Index source = (steps.time - 1 - t + lengths[static_cast<std::size_t>(row)]) % steps.time;
      std::memcpy(to + (first + static_cast<std::size_t>(t) * steps.time_stride) * steps.bytes,
                  from + (first + static_cast<std::size_t>(source) * steps.time_stride) * steps.bytes, steps.bytes);
    }
  }
  return differentiable(std::move(result), {x}, [lengths, steps](const Tensor& dy) {
    return std::vector<Cotangent>{flip_rows(dy, lengths, steps)};
  });
}

}  // namespace

Tensor flip_sequences(const Tensor& x, const std::optional<Tensor>& lengths, FlipOptions options) {
  if (options.num_batch_dims < 0 || x.rank() <= options.num_batch_dims) {
    throw ShapeError("[flip_sequences] there is no time axis beside " + std::to_string(options.num_batch_dims) +
                     " batch axes: x is " + describe(x) + ".");
  }
  const int first_batch_axis = options.time_major ? 1 : 0;
  const Shape batch = x.shape().axes(first_batch_axis, first_batch_axis + options.num_batch_dims);
  const Steps steps = steps_of(x, batch, options);
  std::vector<Index> row_lengths(static_cast<std::size_t>(steps.rows), steps.time);
  if (lengths) {
    const Tensor checked = internal::checked_lengths(*lengths, batch, steps.time, "flip_sequences");
    std::copy(checked.data<Index>().begin(), checked.data<Index>().end(), row_lengths.begin());
  }
  return x.size() == 0 ? x : flip_rows(x, row_lengths, steps);
}

}  // namespace strata::recurrent
