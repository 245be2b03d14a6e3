// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "strata/recurrent/sequence.h"
#include "strata/tensor/shape.h"

namespace strata::recurrent::internal {

// `lengths` holds `rows` numbers in [0, steps], or is null: all rows are full. `reverse` runs each row from its last
// valid step to its first; y is then in the order of processing, or with `keep_order` in that of the input. Over
// padding the cell runs only if its outputs are kept.
struct SequenceShape {
  Index rows = 0;
  Index steps = 0;
  const std::int64_t* lengths = nullptr;
  bool reverse = false;
  bool keep_order = false;
  PaddingOutput padding = PaddingOutput::keep;
};

// The order in which a sequence is processed. Rows are sorted by length, longest first, so that the rows that take part
// in a step are the first `active(t)`; they are called by their position j in this order. A pair is a row at a step;
// pairs are numbered step by step, row by row.
class RowOrder {
 public:
  RowOrder() = default;
  explicit RowOrder(const SequenceShape& shape);

  [[nodiscard]] Index rows() const noexcept { return rows_; }
  [[nodiscard]] Index steps() const noexcept { return steps_; }  // as given, padding included
  [[nodiscard]] PaddingOutput padding() const noexcept { return padding_; }
  [[nodiscard]] Index pairs() const noexcept { return offsets_.back(); }

  // The caller's number of row j, and how many of its steps are valid.
  [[nodiscard]] Index row(Index j) const noexcept { return row_[static_cast<std::size_t>(j)]; }
  [[nodiscard]] Index length(Index j) const noexcept { return length_[static_cast<std::size_t>(j)]; }

  // Steps that are processed for row j, and for any row.
  [[nodiscard]] Index processed(Index j) const noexcept { return padding_ == PaddingOutput::keep ? steps_ : length(j); }
  [[nodiscard]] Index processed_steps() const noexcept { return static_cast<Index>(offsets_.size()) - 1; }

  // The number of the pair (row 0, step t), and of rows that are processed at step t.
  [[nodiscard]] Index offset(Index t) const noexcept { return offsets_[static_cast<std::size_t>(t)]; }
  [[nodiscard]] Index active(Index t) const noexcept { return offset(t + 1) - offset(t); }

  // Rows with more than t valid steps; those with exactly t are [longer(t), longer(t - 1)).
  [[nodiscard]] Index longer(Index t) const noexcept { return longer_[static_cast<std::size_t>(t)]; }

  // Where in x the input of row j at processing step t stands, and where in y its output. Step t behind the last valid
  // one belongs to the same position of the padding, counted from its end if `reverse` is set (as flip_sequences does).
  [[nodiscard]] Index input_step(Index j, Index t) const noexcept {
    if (!reverse_) return t;
    const Index len = length(j);
    return t < len ? len - 1 - t : steps_ - 1 - t + len;
  }
  [[nodiscard]] Index output_step(Index j, Index t) const noexcept { return keep_order_ ? input_step(j, t) : t; }

 private:
  Index rows_ = 0;
  Index steps_ = 0;
  bool reverse_ = false;
  bool keep_order_ = false;
  PaddingOutput padding_ = PaddingOutput::keep;
  std::vector<Index> row_;
  std::vector<Index> length_;
  std::vector<Index> longer_;      // steps + 1
  std::vector<Index> offsets_{0};  // processed steps + 1
};

}  // namespace strata::recurrent::internal
