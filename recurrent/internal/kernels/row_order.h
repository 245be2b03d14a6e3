// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strata/recurrent/sequence.h"
#include "strata/tensor/shape.h"

namespace strata::recurrent::internal {

// Where one row of a sequence lies. A place is a step of a row as memory has them: features of place p start at p times
// their number.
struct RowSpan {
  Index input = 0;   // place of the first step
  Index output = 0;  // place of the output that is computed first, unless outputs keep the order of the input
  Index length = 0;  // valid steps
  Index extent = 0;  // steps with the padding behind them
};

// `reverse` runs each row from its last valid step to its first; y is then in the order of processing, or with
// `keep_order` in that of the input. Over padding the cell runs only if its outputs are kept.
struct SequenceShape {
  std::vector<RowSpan> rows = {};
  Index steps = 0;   // of the longest row, padding included
  Index stride = 1;  // places from step to step
  bool reverse = false;
  bool keep_order = false;
  PaddingOutput padding = PaddingOutput::keep;
};

// Rows side by side in one array, [rows, steps] or with `time_major` [steps, rows]. `lengths` is null if all are full.
[[nodiscard]] std::vector<RowSpan> padded_rows(Index rows, Index steps, const std::int64_t* lengths, bool time_major);

// Rows one behind the other, without padding.
[[nodiscard]] std::vector<RowSpan> packed_rows(std::span<const std::int64_t> lengths);

// The order in which a sequence is processed. Rows are sorted by the number of their steps, most first, so that the
// rows that take part in a step are the first `active(t)`; they are called by their position j in this order. A pair is
// a row at a step; pairs are numbered step by step, row by row.
class RowOrder {
 public:
  RowOrder() = default;
  explicit RowOrder(const SequenceShape& shape);

  [[nodiscard]] Index rows() const noexcept { return static_cast<Index>(spans_.size()); }
  [[nodiscard]] Index steps() const noexcept { return steps_; }  // as given, padding included
  [[nodiscard]] PaddingOutput padding() const noexcept { return padding_; }
  [[nodiscard]] Index pairs() const noexcept { return offsets_.back(); }

  // The caller's number of row j, how many of its steps are valid, and how many there are with its padding.
  [[nodiscard]] Index row(Index j) const noexcept { return row_[static_cast<std::size_t>(j)]; }
  [[nodiscard]] Index length(Index j) const noexcept { return span(j).length; }
  [[nodiscard]] Index extent(Index j) const noexcept { return span(j).extent; }

  // Steps that are processed for row j, and for any row.
  [[nodiscard]] Index processed(Index j) const noexcept { return processed(span(j)); }
  [[nodiscard]] Index processed_steps() const noexcept { return static_cast<Index>(offsets_.size()) - 1; }

  // The number of the pair (row 0, step t), and of rows that are processed at step t.
  [[nodiscard]] Index offset(Index t) const noexcept { return offsets_[static_cast<std::size_t>(t)]; }
  [[nodiscard]] Index active(Index t) const noexcept { return offset(t + 1) - offset(t); }

  // Rows with exactly t valid steps.
  [[nodiscard]] std::span<const Index> of_length(Index t) const noexcept {
    const auto at = static_cast<std::size_t>(t);
    return std::span(by_length_).subspan(length_begin_[at], length_begin_[at + 1] - length_begin_[at]);
  }

  // Where in x the input of row j at processing step t stands, and where in y its output. Step t behind the last valid
  // one belongs to the same position of the padding, counted from its end if `reverse` is set (as flip_sequences does).
  [[nodiscard]] Index input_place(Index j, Index t) const noexcept {
    return span(j).input + input_step(span(j), t) * stride_;
  }
  [[nodiscard]] Index output_place(Index j, Index t) const noexcept {
    return keep_order_ ? input_place(j, t) : span(j).output + t * stride_;
  }

 private:
  [[nodiscard]] const RowSpan& span(Index j) const noexcept { return spans_[static_cast<std::size_t>(j)]; }
  [[nodiscard]] Index processed(const RowSpan& span) const noexcept {
    return padding_ == PaddingOutput::keep ? span.extent : span.length;
  }
  [[nodiscard]] Index input_step(const RowSpan& span, Index t) const noexcept {
    if (!reverse_) return t;
    return t < span.length ? span.length - 1 - t : steps_ - 1 - t + span.length;
  }

  Index steps_ = 0;
  Index stride_ = 1;
  bool reverse_ = false;
  bool keep_order_ = false;
  PaddingOutput padding_ = PaddingOutput::keep;
  std::vector<Index> row_;
  std::vector<RowSpan> spans_;
  std::vector<Index> by_length_;
  std::vector<std::size_t> length_begin_;  // steps + 2
  std::vector<Index> offsets_{0};          // processed steps + 1
};

}  // namespace strata::recurrent::internal
