// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/packed_sequence.h"

#include <algorithm>
#include <string>
#include <utility>

#include "strata/recurrent/internal/scan/row_masks.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/index.h"
#include "strata/tensor/internal/integers.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent {
namespace {

// Calls f(row, t, step) for every step of every sequence, `step` being its number in the packed data.
template <class F>
void for_each_step(const Tensor& lengths, const F& f) {
  Index step = 0;
  Index row = 0;
  for (const Index length : lengths.data<Index>()) {
    for (Index t = 0; t < length; ++t) f(row, t, step++);
    ++row;
  }
}

// The number of row `row`'s step `t` in a padded batch whose batch and time axes are made one.
Index padded_place(Index row, Index t, Index rows, Index time, bool time_major) {
  return time_major ? t * rows + row : row * time + t;
}

Index checked_max(const Tensor& lengths, Index total) {
  Index left = total;
  Index longest = 0;
  bool fits = true;
  strata::internal::for_each_integer(lengths, [&](auto length) {
    if (std::cmp_less(length, 0)) {
      throw ValueError("[PackedSequence] length " + std::to_string(length) + " is negative.");
    }
    fits = fits && std::cmp_less_equal(length, left);
    if (!fits) return;
    left -= static_cast<Index>(length);
    longest = std::max(longest, static_cast<Index>(length));
  });
  if (fits && left == 0) return longest;
  throw ValueError("[PackedSequence] the data has " + std::to_string(total) +
                   " steps, which is not the sum of the lengths. Pass one sequence behind the other.");
}

}  // namespace

PackedSequence::PackedSequence(Tensor data, const Tensor& lengths) : data_(std::move(data)) {
  if (data_.rank() == 0)
    throw ShapeError("[PackedSequence] the data has no axis of steps, got " + describe(data_) + ".");
  if (!is_integer(lengths.dtype())) {
    throw DTypeError("[PackedSequence] lengths must be integers, got " + describe(lengths) + ".");
  }
  max_length_ = checked_max(lengths, data_.size(0));
  lengths_ = lengths.astype(DType::int64);
}

PackedSequence PackedSequence::from_padded(const Tensor& x, const Tensor& lengths, bool time_major) {
  const int num_batch_axes = lengths.rank();
  if (x.rank() <= num_batch_axes) {
    throw ShapeError("[PackedSequence] there is no time axis beside " + std::to_string(num_batch_axes) +
                     " batch axes: x is " + describe(x) + ".");
  }
  const int first_batch_axis = time_major ? 1 : 0;
  const Shape batch = x.shape().axes(first_batch_axis, first_batch_axis + num_batch_axes);
  const Index time = x.size(time_major ? 0 : num_batch_axes);
  const Tensor checked = internal::checked_lengths(lengths, batch, time, "PackedSequence");
  std::vector<Index> places;
  for_each_step(checked, [&](Index row, Index t, Index) {
    places.push_back(padded_place(row, t, checked.size(), time, time_major));
  });
  const Shape features = x.shape().axes(num_batch_axes + 1, x.rank());
  const Tensor steps = x.reshape(Shape{checked.size() * time}.append(features));
  return {take(steps, tensor(places, {static_cast<Index>(places.size())}), 0), checked};
}

PackedSequence PackedSequence::from_list(std::span<const Tensor> sequences) {
  if (sequences.empty()) throw ValueError("[PackedSequence] there are no sequences in the list.");
  std::vector<Index> lengths;
  for (const Tensor& sequence : sequences) {
    if (sequence.rank() == 0) {
      throw ShapeError("[PackedSequence] a sequence has no axis of steps, got " + describe(sequence) + ".");
    }
    lengths.push_back(sequence.size(0));
  }
  return {concatenate(sequences, 0), tensor(lengths, {static_cast<Index>(lengths.size())})};
}

PackedSequence PackedSequence::with_data(Tensor data) const {
  if (data.rank() == 0 || data.size(0) != total_steps()) {
    throw ShapeError("[PackedSequence] the data of " + std::to_string(total_steps()) + " steps has become " +
                     describe(data) + ". Keep the axis of steps first.");
  }
  PackedSequence result = *this;
  result.data_ = std::move(data);
  return result;
}

Tensor PackedSequence::padded(const PaddedOptions& options) const {
  const Index time = options.time.value_or(max_length_);
  if (time < max_length_) {
    throw ValueError("[PackedSequence] " + std::to_string(time) + " steps are too few for a sequence of " +
                     std::to_string(max_length_) + ".");
  }
  const Index rows = lengths_.size();
  const Shape features = data_.shape().axes(1, data_.rank());
  const Shape leading = options.time_major ? Shape{time}.append(batch()) : batch().append({time});
  const Shape padded_shape = leading.append(features);  // throws where there are too many elements to count
  const Tensor with_padding = concatenate({data_, full(Shape{1}.append(features), options.value, data_.dtype())}, 0);
  Tensor steps = full({leading.num_elements()}, total_steps(), DType::int64);
  const std::span<Index> step_at = steps.mutable_data<Index>();
  for_each_step(lengths_, [&](Index row, Index t, Index step) {
    step_at[static_cast<std::size_t>(padded_place(row, t, rows, time, options.time_major))] = step;
  });
  return take(with_padding, steps, 0).reshape(padded_shape);
}

std::vector<Tensor> PackedSequence::list() const { return internal::cut_rows(data_, lengths_.data<Index>()); }

}  // namespace strata::recurrent
