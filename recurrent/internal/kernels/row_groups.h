// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "strata/recurrent/internal/kernels/packed_weights.h"
#include "strata/recurrent/internal/kernels/row_order.h"
#include "strata/tensor/thread_pool.h"

namespace strata::recurrent::internal {

// Multiplications and additions that are worth a second thread, about 20 us.
constexpr Index parallel_operations = Index{1} << 21;

// Multiplications and additions of one row and step.
[[nodiscard]] constexpr Index pair_operations(const CellShape& cell) {
  return 2 * layout_of(cell.kind).gates * cell.hidden * (cell.input + cell.hidden);
}

// Rows cut into one contiguous group per thread, of about equal total length: groups need no word from each other.
class RowGroups {
 public:
  RowGroups(const RowOrder& order, Index row_tile, Index operations_per_pair) {
    const Index operations = order.pairs() * operations_per_pair;
    const Index most = std::min((order.rows() + row_tile - 1) / row_tile, operations / parallel_operations);
    const Index count = std::clamp(most, Index{1}, static_cast<Index>(num_threads()));
    Index row = 0;
    Index pairs = 0;
    for (Index g = 0; g < count; ++g) {
      borders_.push_back(row);
      while (row < order.rows() && pairs * count < order.pairs() * (g + 1)) pairs += order.processed(row++);
    }
    borders_.push_back(order.rows());
  }

  [[nodiscard]] Index count() const noexcept { return static_cast<Index>(borders_.size()) - 1; }

  // Calls f(row_begin, row_end) for every group.
  template <class F>
  void for_each(const F& f) const {
    parallel_for(0, count(), 1, [&](Index begin, Index end) {
      for (Index g = begin; g < end; ++g)
        f(borders_[static_cast<std::size_t>(g)], borders_[static_cast<std::size_t>(g) + 1]);
    });
  }

 private:
  std::vector<Index> borders_;
};

}  // namespace strata::recurrent::internal
