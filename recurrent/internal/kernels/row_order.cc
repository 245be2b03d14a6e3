// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/kernels/row_order.h"

#include <algorithm>
#include <numeric>

namespace strata::recurrent::internal {

std::vector<RowSpan> padded_rows(Index rows, Index steps, const std::int64_t* lengths, bool time_major) {
  std::vector<RowSpan> spans(static_cast<std::size_t>(rows));
  for (Index row = 0; row < rows; ++row) {
    const Index first = row * (time_major ? 1 : steps);
    spans[static_cast<std::size_t>(row)] = {first, first, lengths != nullptr ? lengths[row] : steps, steps};
  }
  return spans;
}

std::vector<RowSpan> packed_rows(std::span<const std::int64_t> lengths) {
  std::vector<RowSpan> spans;
  spans.reserve(lengths.size());
  Index first = 0;
  for (const Index length : lengths) {
    spans.push_back({first, first, length, length});
    first += length;
  }
  return spans;
}

RowOrder::RowOrder(const SequenceShape& shape)
    : steps_(shape.steps),
      stride_(shape.stride),
      reverse_(shape.reverse),
      keep_order_(shape.keep_order),
      padding_(shape.padding),
      row_(shape.rows.size()),
      by_length_(shape.rows.size()),
      length_begin_(static_cast<std::size_t>(shape.steps) + 2) {
  const auto at = [&](Index row) -> const RowSpan& { return shape.rows[static_cast<std::size_t>(row)]; };
  std::iota(row_.begin(), row_.end(), Index{0});
  std::stable_sort(row_.begin(), row_.end(), [&](Index a, Index b) {
    const Index processed_a = processed(at(a));
    const Index processed_b = processed(at(b));
    return processed_a != processed_b ? processed_a > processed_b : at(a).length > at(b).length;
  });
  spans_.reserve(row_.size());
  for (const Index row : row_) spans_.push_back(at(row));

  std::iota(by_length_.begin(), by_length_.end(), Index{0});
  std::stable_sort(by_length_.begin(), by_length_.end(), [&](Index a, Index b) { return length(a) < length(b); });
  std::size_t shorter = 0;
  for (Index t = 0; t <= steps_; ++t) {
    while (shorter < by_length_.size() && length(by_length_[shorter]) <= t) ++shorter;
    length_begin_[static_cast<std::size_t>(t) + 1] = shorter;
  }

  const Index count = spans_.empty() ? 0 : processed(Index{0});
  offsets_.resize(static_cast<std::size_t>(count) + 1);
  Index active = rows();
  for (Index t = 0; t < count; ++t) {
    while (processed(active - 1) <= t) --active;
    offsets_[static_cast<std::size_t>(t) + 1] = offset(t) + active;
  }
}

}  // namespace strata::recurrent::internal
