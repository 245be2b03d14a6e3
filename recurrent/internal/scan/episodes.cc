// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/scan/episodes.h"

#include <algorithm>
#include <cmath>

#include "strata/tensor/create.h"

namespace strata::recurrent::internal {
namespace {

// The steps [begin, end) of a row, which may be none only if the row has none.
RowSpan piece_of(const SequenceShape& shape, const RowSpan& row, Index begin, Index end) {
  const Index padding = row.extent - row.length;
  const Index processed_before = shape.reverse ? row.length - end : begin;
  const bool is_last = shape.reverse ? begin == 0 : end == row.length;
  return {row.input + begin * shape.stride, row.output + processed_before * shape.stride, end - begin,
          end - begin + (is_last ? padding : 0)};
}

}  // namespace

Episodes cut_episodes(const SequenceShape& shape, const bool* resets) {
  Episodes result;
  for (std::size_t row = 0; row < shape.rows.size(); ++row) {
    const RowSpan& span = shape.rows[row];
    std::vector<Index> borders{0};
    for (Index t = 1; t < span.length; ++t) {
      if (resets[span.input + t * shape.stride]) borders.push_back(t);
    }
    borders.push_back(span.length);
    const std::size_t count = borders.size() - 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t episode = shape.reverse ? count - 1 - i : i;
      result.spans.push_back(piece_of(shape, span, borders[episode], borders[episode + 1]));
      result.row.push_back(static_cast<Index>(row));
      result.starts_from_reset.push_back(i > 0 || (span.length > 0 && resets_before(shape, span, 0, resets)));
    }
    result.last.push_back(static_cast<Index>(result.spans.size()) - 1);
  }
  return result;
}

Index longest_row(const SequenceShape& shape) {
  Index longest = 0;
  for (const RowSpan& span : shape.rows) longest = std::max(longest, span.length);
  return longest;
}

Index steps_between_checkpoints(Index every, Index steps) {
  if (every > 0) return std::min(every, std::max(steps, Index{1}));
  return std::max(static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(steps)))), Index{1});
}

SequenceShape part_of(const SequenceShape& shape, Index every, Index number) {
  SequenceShape part = shape;
  const Index begin = number * every;
  for (RowSpan& span : part.rows) {
    if (begin > 0 && begin >= span.length) {
      span = {};
      continue;
    }
    const Index end = std::min(begin + every, span.length);
    span = shape.reverse ? piece_of(shape, span, span.length - end, span.length - begin)
                         : piece_of(shape, span, begin, end);
  }
  return part;
}

bool resets_before(const SequenceShape& shape, const RowSpan& span, Index t, const bool* resets) {
  if (t >= span.length) return false;
  const Index flag = shape.reverse ? span.length - t : t;
  return flag < span.length && resets[span.input + flag * shape.stride];
}

Tensor reset_flags(const SequenceShape& shape, const Tensor& resets) {
  const bool* const flags = resets.data<bool>().data();
  Tensor result = zeros({shape.steps, static_cast<Index>(shape.rows.size())}, DType::boolean);
  auto to = result.mutable_data<bool>().begin();
  for (Index t = 0; t < shape.steps; ++t) {
    for (const RowSpan& span : shape.rows) *to++ = resets_before(shape, span, t, flags);
  }
  return result;
}

}  // namespace strata::recurrent::internal
