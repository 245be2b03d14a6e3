// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/scan/skipped_steps.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent::internal {
namespace {

// What a place shows where no step has run: what its row begins with, or its episode.
constexpr Index initial_carry = -1;
constexpr Index reset_carry = -2;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Index end_of_row(const RowSpan& row, Index stride, std::span<const bool> runs) {
  Index end = row.length;
  while (end > 0 && !runs[at(row.input + (end - 1) * stride)]) --end;
  return end;
}

Index num_running(const RowSpan& row, Index stride, std::span<const bool> runs) {
  Index count = 0;
  for (Index t = 0; t < row.length; ++t) count += runs[at(row.input + t * stride)] ? 1 : 0;
  return count;
}

// What flows back to x, of this shape, from steps picked of it. Two-byte floats are summed in float32.
Tensor sum_of_picked(const Tensor& dy, const Tensor& places, const Shape& shape) {
  Tensor dx = zeros(shape, computing_dtype(dy.dtype()));
  if (dy.size() == 0) return dx.astype(dy.dtype());
  const Tensor terms = dy.astype(dx.dtype());
  const auto features = static_cast<std::ptrdiff_t>(dy.size() / places.size());
  dispatch(dx.dtype(), [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      auto from = terms.data<T>().begin();
      const auto to = dx.mutable_data<T>().begin();
      for (const Index place : places.data<Index>()) {
        if (place >= 0)
          std::transform(from, from + features, to + place * features, to + place * features, std::plus{});
        from += features;
      }
    }
  });
  return dx.astype(dy.dtype());
}

// The steps of x, [*batch, time, *features] or time-major, that stand at these places of it, in the shape of the
// places; zeros where a place is negative.
Tensor pick_steps(const Tensor& x, const Tensor& places) {
  Tensor result = Tensor::uninitialized(places.shape().append(x.shape().axes(places.rank(), x.rank())), x.dtype());
  if (result.size() == 0) return result;
  const std::size_t step = result.bytes().size() / at(places.size());
  const std::byte* const from = x.bytes().data();
  std::byte* to = result.mutable_bytes().data();
  for (const Index place : places.data<Index>()) {
    if (place >= 0) {
      std::memcpy(to, from + at(place) * step, step);
    } else {
      std::memset(to, 0, step);
    }
    to += step;
  }
  return differentiable(std::move(result), {x}, [places, shape = x.shape()](const Tensor& dy) {
    return std::vector<Cotangent>{sum_of_picked(dy, places, shape)};
  });
}

}  // namespace

Tensor prefix_mask(const Tensor& lengths, Index time, int time_axis) {
  std::vector<Index> sizes(at(lengths.rank()) + 1, 1);
  sizes[at(time_axis)] = time;
  return arange(time).reshape(Shape(sizes)) < expand_dims(lengths, time_axis);
}

Tensor resets_at_running_steps(const Tensor& resets, const Tensor& mask, int time_axis) {
  Tensor moved = move_axis(resets, time_axis, -1);
  const Tensor mask_by_row = move_axis(mask, time_axis, -1);
  const std::span<const bool> runs = mask_by_row.data<bool>();
  const std::span<bool> flags = moved.mutable_data<bool>();
  const auto time = at(moved.size(-1));
  bool pending = false;
  for (std::size_t place = 0; place < flags.size(); ++place) {
    if (place % time == 0) pending = false;
    pending = pending || flags[place];
    flags[place] = pending && runs[place];
    if (runs[place]) pending = false;
  }
  return move_axis(moved, -1, time_axis);
}

// From where to where steps move.
class SkippedSteps::Moves {
 public:
  Moves(const SequenceShape& from, const SequenceShape& to) : from_(from), to_(to), padding_(from.padding) {
    position_.resize(from.rows.size());
    for (Index j = 0; j < to_.rows(); ++j) position_[at(to_.row(j))] = j;
  }

  // For all rows; `resets` may be empty.
  void find(std::span<const bool> runs, std::span<const bool> resets, bool reverse, std::span<Index> sources,
            std::span<Index> shown) const {
    for (Index j = 0; j < from_.rows(); ++j) {
      const Index ran = find_running(j, runs, resets, reverse, sources, shown);
      const Index used = find_padding(j, ran, sources, shown);
      if (used == to_.steps()) continue;
      // What fills the row up is never looked at, and must not spoil gradients: it has to be a step that runs.
      const Index spare = ran > 0 ? sources[at(target(j, 0))] : from_.input_place(j, 0);
      for (Index i = used; i < to_.steps(); ++i) sources[at(target(j, i))] = spare;
    }
  }

 private:
  [[nodiscard]] Index target(Index j, Index step) const { return to_.input_place(position_[at(from_.row(j))], step); }

  Index find_running(Index j, std::span<const bool> runs, std::span<const bool> resets, bool reverse,
                     std::span<Index> sources, std::span<Index> shown) const {
    const bool is_zero = padding_ == PaddingOutput::zero;
    Index ran = 0;
    Index last = initial_carry;
    for (Index t = 0; t < from_.length(j); ++t) {
      const Index place = from_.input_place(j, t);
      const bool begins = !resets.empty() && resets[at(place)];
      if (begins && !reverse) last = reset_carry;
      if (runs[at(place)]) {
        sources[at(target(j, ran))] = place;
        last = ran++;
      }
      shown[at(from_.output_place(j, t))] = is_zero && !runs[at(place)] ? initial_carry : last;
      if (begins && reverse) last = reset_carry;
    }
    return ran;
  }

  Index find_padding(Index j, Index ran, std::span<Index> sources, std::span<Index> shown) const {
    const Index after_last = padding_ == PaddingOutput::repeat_last && ran > 0 ? ran - 1 : initial_carry;
    Index used = ran;
    for (Index t = from_.length(j); t < from_.extent(j); ++t) {
      Index& output = shown[at(from_.output_place(j, t))];
      output = after_last;
      if (padding_ != PaddingOutput::keep) continue;
      sources[at(target(j, used))] = from_.input_place(j, t);
      output = used++;
    }
    return used;
  }

  RowOrder from_;
  RowOrder to_;
  PaddingOutput padding_;
  std::vector<Index> position_;  // in to_, of each row
};

SkippedSteps::SkippedSteps(SequenceShape shape, int time_axis, const Tensor& mask, const std::optional<Tensor>& resets)
    : time_axis_(time_axis) {
  const std::span<const bool> runs = mask.data<bool>();
  counts_ = zeros(mask.shape().without_axis(time_axis), DType::int64);
  const std::span<Index> counts = counts_.mutable_data<Index>();
  Index steps = 0;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    RowSpan& span = shape.rows[row];
    span.length = end_of_row(span, shape.stride, runs);
    counts[row] = num_running(span, shape.stride, runs);
    has_holes_ = has_holes_ || counts[row] < span.length;
    const Index padding = shape.padding == PaddingOutput::keep ? span.extent - span.length : 0;
    steps = std::max(steps, counts[row] + padding);
  }
  SequenceShape to = shape;
  to.steps = steps;
  to.rows = padded_rows(static_cast<Index>(counts.size()), steps, counts.data(), time_axis == 0);
  std::vector<Index> sizes(mask.shape().begin(), mask.shape().end());
  sizes[at(time_axis)] = steps;
  sources_ = zeros(Shape(sizes), DType::int64);
  shown_ = zeros(mask.shape(), DType::int64);
  Moves(shape, to).find(runs, resets ? resets->data<bool>() : std::span<const bool>{}, shape.reverse,
                        sources_.mutable_data<Index>(), shown_.mutable_data<Index>());
  if (resets) resets_ = together(resets_at_running_steps(*resets, mask, time_axis));
}

Tensor SkippedSteps::together(const Tensor& x) const { return pick_steps(x, sources_); }

Tensor SkippedSteps::entries(const Tensor& x, Index first) const {
  const Index rows = counts_.size();
  const Index steps = x.size(time_axis_);
  const Index time = shown_.size(time_axis_);
  Tensor places = shown_;
  Index place = 0;
  for (Index& entry : places.mutable_data<Index>()) {
    const Index step = entry + first;
    entry = step < 0 ? step : time_axis_ == 0 ? step * rows + place % rows : place / time * steps + step;
    ++place;
  }
  return pick_steps(x, places);
}

Tensor SkippedSteps::apart(const Tensor& y) const { return entries(y, 0); }

Tensor SkippedSteps::apart(const Tensor& part, const Tensor& initial, const Tensor& reset) const {
  static_assert(reset_carry == -2 && initial_carry == -1);
  return entries(concatenate({expand_dims(reset, time_axis_), expand_dims(initial, time_axis_), part}, time_axis_), 2);
}

}  // namespace strata::recurrent::internal
