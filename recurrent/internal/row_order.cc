// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/row_order.h"

#include <algorithm>
#include <numeric>

namespace strata::recurrent::internal {

RowOrder::RowOrder(const SequenceShape& shape)
    : rows_(shape.rows),
      steps_(shape.steps),
      reverse_(shape.reverse),
      keep_order_(shape.keep_order),
      padding_(shape.padding),
      row_(static_cast<std::size_t>(shape.rows)),
      length_(static_cast<std::size_t>(shape.rows), shape.steps),
      longer_(static_cast<std::size_t>(shape.steps) + 1) {
  std::iota(row_.begin(), row_.end(), Index{0});
  if (shape.lengths != nullptr) {
    std::stable_sort(row_.begin(), row_.end(), [&](Index a, Index b) { return shape.lengths[a] > shape.lengths[b]; });
    std::transform(row_.begin(), row_.end(), length_.begin(), [&](Index b) { return shape.lengths[b]; });
  }
  Index rows_left = rows_;
  for (Index t = 0; t <= steps_; ++t) {
    while (rows_left > 0 && length(rows_left - 1) <= t) --rows_left;
    longer_[static_cast<std::size_t>(t)] = rows_left;
  }
  const Index count = padding_ == PaddingOutput::keep || rows_ == 0 ? steps_ : length(0);
  offsets_.resize(static_cast<std::size_t>(count) + 1);
  for (Index t = 0; t < count; ++t) {
    offsets_[static_cast<std::size_t>(t) + 1] = offset(t) + (padding_ == PaddingOutput::keep ? rows_ : longer(t));
  }
}

}  // namespace strata::recurrent::internal
