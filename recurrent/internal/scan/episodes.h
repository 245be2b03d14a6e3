// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "strata/recurrent/internal/kernels/row_order.h"
#include "strata/tensor/tensor.h"

// Rows in pieces: episodes, each run from a carry of its own, and parts that go on from each other.
namespace strata::recurrent::internal {

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

[[nodiscard]] Index longest_row(const SequenceShape& shape);

// `every`, or, where it is 0, about the square root of the number of steps: as much memory for carries as for steps.
[[nodiscard]] Index steps_between_checkpoints(Index every, Index steps);

// Part `number` of the steps in the order of processing, `every` a part; rows that have ended before are empty in it.
// A row's padding goes to the part that its last valid step is in.
[[nodiscard]] SequenceShape part_of(const SequenceShape& shape, Index every, Index number);

// Whether row `span` is reset before processing step t: forward at a flagged step; in reverse after one, where the
// episode that it begins is over.
[[nodiscard]] bool resets_before(const SequenceShape& shape, const RowSpan& span, Index t, const bool* resets);

// The same for all rows of a padded batch, step by step: [steps, rows].
[[nodiscard]] Tensor reset_flags(const SequenceShape& shape, const Tensor& resets);

}  // namespace strata::recurrent::internal
