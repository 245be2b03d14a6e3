// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/row_masks.h"
#include "strata/recurrent/sequence.h"

namespace strata::recurrent {

template <class Carry>
struct ScanOptions;
template <class Carry>
struct ScanResult;

namespace internal {

// A sequence input, taken apart: where its axes are.
struct SequenceAxes {
  Shape batch;
  Shape step;  // [*batch, *features]
  Index time;
  int time_axis;
};

// Throws ShapeError if x has no time axis.
SequenceAxes sequence_axes(const Tensor& x, int num_feature_axes, bool time_major);

// Throw ShapeError or DTypeError that names the part of a carry that is not as expected: one that was passed, and one
// that a cell has returned.
void check_given_part(const std::string& part, const Tensor& got, const Tensor& expected);
void check_returned_part(const std::string& part, const Tensor& got, const Tensor& expected);

[[noreturn]] void throw_no_initial_carry();

// One row's part of a carry for all rows of a batch.
Tensor for_batch(const Tensor& row, const Shape& batch);

// The carry that a sequence begins with, checked against the cell's own.
template <Cell C>
typename C::Carry starting_carry(const C& cell, const Shape& step, const std::optional<typename C::Carry>& given) {
  if constexpr (SelfStartingCell<C>) {
    typename C::Carry own = cell.initial_carry(step);
    if (!given) return own;
    for_each_tensor(check_given_part, "", *given, std::as_const(own));
  }
  if (!given) throw_no_initial_carry();
  return *given;
}

// What a scan begins with.
template <class Carry>
struct ScanStart {
  SequenceAxes axes;
  std::optional<Tensor> lengths;  // int64 [*batch]
  Carry carry;
  bool time_major;
  bool reverse;
  bool keep_order;
  PaddingOutput padding_output;
};

// Everything that can be known to be wrong before the cell runs throws here.
template <Cell C>
ScanStart<typename C::Carry> begin_scan(const C& cell, const Tensor& x, const ScanOptions<typename C::Carry>& options) {
  const bool time_major = options.time_major.value_or(false);
  const SequenceAxes axes = sequence_axes(x, C::num_feature_axes, time_major);
  std::optional<Tensor> lengths;
  if (options.seq_lengths) lengths = checked_lengths(*options.seq_lengths, axes.batch, axes.time, "scan");
  return {axes,
          std::move(lengths),
          starting_carry(cell, axes.step, options.initial_carry),
          time_major,
          options.reverse.value_or(false),
          options.keep_order.value_or(false),
          options.padding_output.value_or(PaddingOutput::keep)};
}

}  // namespace internal
}  // namespace strata::recurrent
