// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/kernels/row_order.h"
#include "strata/recurrent/internal/scan/carry_check.h"
#include "strata/recurrent/internal/scan/episodes.h"
#include "strata/recurrent/internal/scan/fused_cell.h"
#include "strata/recurrent/internal/scan/row_masks.h"
#include "strata/recurrent/sequence.h"

namespace strata::recurrent {

template <class Carry>
struct ScanOptions;
template <class Carry>
struct ScanResult;
template <class Carry>
struct PackedScanResult;

namespace internal {

// A sequence input, taken apart: where its axes are.
struct SequenceAxes {
  Shape batch;
  Shape step;  // [*batch, *features]
  Index time;
  int time_axis;
};

// Throws ShapeError unless x has, beside its feature axes, one of steps.
void check_feature_axes(const Tensor& x, int num_feature_axes);

// The same, and where the axes are.
SequenceAxes sequence_axes(const Tensor& x, int num_feature_axes, bool time_major);

[[noreturn]] void throw_no_initial_carry();

// One row's part of a carry for all rows of a batch.
Tensor for_batch(const Tensor& row, const Shape& batch);

// Throws ValueError if the number is negative.
void check_checkpoints(const std::optional<Index>& every);

// The flags of a scan, checked; empty if none is set.
std::optional<Tensor> checked_resets(const std::optional<Tensor>& resets, const Shape& places);

// The carry that a sequence begins with, checked against the cell's own.
template <Cell C>
typename C::Carry starting_carry(const C& cell, const Shape& step, const std::optional<typename C::Carry>& given) {
  if constexpr (SelfStartingCell<C>) {
    typename C::Carry own = cell.initial_carry(step);
    if (!given) return own;
    for_each_tensor(CarryCheck{"scan", "initial carry"}, "", *given, std::as_const(own));
  }
  if (!given) throw_no_initial_carry();
  return *given;
}

// What a row begins with, and what it is set to at a reset.
template <class Carry>
struct StartingCarries {
  Carry initial;
  Carry reset;
};

template <Cell C>
StartingCarries<typename C::Carry> starting_carries(const C& cell, const Shape& step,
                                                    const ScanOptions<typename C::Carry>& options) {
  check_checkpoints(options.checkpoint_every);
  typename C::Carry initial = starting_carry(cell, step, options.initial_carry);
  if (options.reset_carry) {
    for_each_tensor(CarryCheck{"scan", "carry to reset to"}, "", *options.reset_carry, std::as_const(initial));
  }
  return {initial, options.reset_carry.value_or(initial)};
}

// Throws ShapeError or DTypeError if a standard cell cannot take x or the carry it would begin with, of rows [*batch].
// Other cells see for themselves, at their first step.
template <class Carry>
void check_fused_start(const std::optional<FusedCell>& fused, const Tensor& x, const Shape& batch,
                       const Carry& initial) {
  if (!fused) return;
  check_fused_input(*fused, x);
  PartForm expected{batch.append(Shape{fused->hidden}), {}};
  if (fused_takes(*fused, x)) expected.dtype = x.dtype();
  for_each_tensor([&](const std::string& part, const Tensor& value) { check_own_part("scan", part, value, expected); },
                  "", initial);
}

// What a scan begins with.
template <class Carry>
struct ScanStart {
  SequenceAxes axes;
  std::optional<Tensor> lengths;  // int64 [*batch]
  std::optional<Tensor> resets;   // bool of the shape of x without features; empty if no step is flagged
  StartingCarries<Carry> carries;
  bool time_major;
  bool reverse;
  bool keep_order;
  PaddingOutput padding_output;

  [[nodiscard]] SequenceShape shape() const {
    const Index rows = axes.batch.num_elements();
    return {.rows = padded_rows(rows, axes.time, lengths ? lengths->data<Index>().data() : nullptr, time_major),
            .steps = axes.time,
            .stride = time_major ? rows : 1,
            .reverse = reverse,
            .keep_order = keep_order,
            .padding = padding_output};
  }
};

// Everything that can be known to be wrong before the cell runs throws here. `fused` is what fused_form says of it.
// A mask is checked and otherwise left alone.
template <Cell C>
ScanStart<typename C::Carry> begin_scan(const C& cell, const std::optional<FusedCell>& fused, const Tensor& x,
                                        const ScanOptions<typename C::Carry>& options) {
  const bool time_major = options.time_major.value_or(false);
  const SequenceAxes axes = sequence_axes(x, C::num_feature_axes, time_major);
  std::optional<Tensor> lengths;
  if (options.seq_lengths) lengths = checked_lengths(*options.seq_lengths, axes.batch, axes.time, "scan");
  const Shape places = x.shape().axes(0, x.rank() - C::num_feature_axes);
  check_mask(options.mask, lengths, places, "scan");
  std::optional<Tensor> resets = checked_resets(options.resets, places);
  StartingCarries<typename C::Carry> carries = starting_carries(cell, axes.step, options);
  check_fused_start(fused, x, axes.batch, carries.initial);
  return {axes,
          std::move(lengths),
          std::move(resets),
          std::move(carries),
          time_major,
          options.reverse.value_or(false),
          options.keep_order.value_or(false),
          options.padding_output.value_or(PaddingOutput::keep)};
}

}  // namespace internal
}  // namespace strata::recurrent
