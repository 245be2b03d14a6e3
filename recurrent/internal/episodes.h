// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "strata/recurrent/internal/row_order.h"
#include "strata/tensor/tensor.h"

// Rows that consist of several episodes, each run from a carry of its own.
namespace strata::recurrent::internal {

// Flags, bool of the shape of the places, checked; empty if none is set. Throws DTypeError or ShapeError.
std::optional<Tensor> checked_resets(const Tensor& resets, const Shape& places);

// Rows cut where flags are set, one entry for each episode; a row's episodes come in the order of processing, and the
// last one takes the padding.
struct Episodes {
  std::vector<RowSpan> spans;
  std::vector<Index> row;               // that an episode is part of
  std::vector<bool> starts_from_reset;  // rather than from the row's initial carry
  std::vector<Index> last;              // for each row, its last episode
};

// `resets` has one flag for each place of x. Flags in padding do not count.
[[nodiscard]] Episodes cut_episodes(const SequenceShape& shape, const bool* resets);

// Whether row `span` is reset before processing step t: forward at a flagged step; in reverse after one, where the
// episode that it begins is over.
[[nodiscard]] bool resets_before(const SequenceShape& shape, const RowSpan& span, Index t, const bool* resets);

// The same for all rows of a padded batch, step by step: [steps, rows].
[[nodiscard]] Tensor reset_flags(const SequenceShape& shape, const Tensor& resets);

}  // namespace strata::recurrent::internal
