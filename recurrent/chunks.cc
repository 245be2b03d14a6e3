// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/chunks.h"

#include <algorithm>

#include "strata/recurrent/internal/scan/row_masks.h"
#include "strata/recurrent/internal/scan/skipped_steps.h"
#include "strata/tensor/error.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent {
namespace {

// Lengths as they are in the steps [begin, end).
Tensor lengths_within(const Tensor& lengths, Index begin, Index end) {
  Tensor result = lengths;
  for (Index& length : result.mutable_data<Index>()) length = std::clamp(length, begin, end) - begin;
  return result;
}

}  // namespace

Chunks::Chunks(Tensor x, Index steps, ChunkOptions options)
    : x_(std::move(x)), options_(std::move(options)), steps_(steps) {
  if (steps < 1) throw ValueError("[chunks] a chunk of " + std::to_string(steps) + " steps. Let it have at least 1.");
  const int num_batch_axes = options_.num_batch_dims;
  if (num_batch_axes < 0 || x_.rank() <= num_batch_axes) {
    throw ShapeError("[chunks] there is no time axis beside " + std::to_string(num_batch_axes) + " batch axes: x is " +
                     describe(x_) + ".");
  }
  time_axis_ = options_.time_major ? 0 : num_batch_axes;
  time_ = x_.size(time_axis_);
  const Shape places = x_.shape().axes(0, num_batch_axes + 1);
  if (options_.seq_lengths) {
    options_.seq_lengths =
        internal::checked_lengths(*options_.seq_lengths, places.without_axis(time_axis_), time_, "chunks");
  }
  internal::check_mask(options_.mask, options_.seq_lengths, places, "chunks");
  if (!options_.resets) return;
  internal::check_flags("resets", *options_.resets, places, "chunks");
  if (options_.mask) {
    options_.resets = internal::resets_at_running_steps(*options_.resets, *options_.mask, time_axis_);
  }
}

Chunk Chunks::operator[](Index index) const {
  if (index < 0 || index >= size()) {
    throw ValueError("[chunks] there is no chunk " + std::to_string(index) + " of " + std::to_string(size()) + ".");
  }
  const Index begin = index * steps_;
  const Index end = begin + std::min(steps_, time_ - begin);
  const auto cut = [&](const Tensor& whole) { return slice_axis(whole, time_axis_, begin, end); };
  Chunk chunk{.x = cut(x_), .seq_lengths = {}, .mask = {}, .resets = {}, .begin = begin, .end = end};
  if (options_.seq_lengths) chunk.seq_lengths = lengths_within(*options_.seq_lengths, begin, end);
  if (options_.mask) chunk.mask = cut(*options_.mask);
  if (options_.resets) chunk.resets = cut(*options_.resets);
  return chunk;
}

}  // namespace strata::recurrent
