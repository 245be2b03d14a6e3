// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "strata/recurrent/cell.h"
#include "strata/recurrent/sequence.h"
#include "strata/state/internal/clone.h"
#include "strata/tensor/create.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent {

// What the outputs behind a sequence's last valid step are.
enum class PaddingOutput {
  keep,         // what the cell makes of the padding, as in Flax
  zero,         // zero, as in PyTorch and ONNX
  repeat_last,  // the output of the last valid step, as in Keras; zero in a sequence of length 0
};

// How one call runs a cell over a sequence.
template <class Carry>
struct ScanOptions {
  std::optional<Tensor> seq_lengths = {};   // integers [*batch] in [0, time]; by default all steps are valid
  std::optional<Carry> initial_carry = {};  // by default the cell's own
  bool time_major = false;  // x and y are [time, *batch, *features] instead of [*batch, time, *features]
  bool reverse = false;     // from the last valid step to the first; y in the order of processing
  bool keep_order = false;  // with reverse: y in the order of the input
  PaddingOutput padding_output = PaddingOutput::keep;
};

// The carry after each sequence's last valid step (the initial carry where the length is 0), and all outputs.
template <class Carry>
struct ScanResult {
  Carry carry;
  Tensor y;
};

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

// Throws ShapeError unless a cell's output has the batch axes first.
void check_output(const Tensor& y, const Shape& batch);

[[noreturn]] void throw_no_initial_carry();

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
};

// Everything that can be known to be wrong before the cell runs throws here.
template <Cell C>
ScanStart<typename C::Carry> begin_scan(const C& cell, const Tensor& x, const ScanOptions<typename C::Carry>& options) {
  const SequenceAxes axes = sequence_axes(x, C::num_feature_axes, options.time_major);
  std::optional<Tensor> lengths;
  if (options.seq_lengths) lengths = checked_lengths(*options.seq_lengths, axes.batch, axes.time, "scan");
  return {axes, std::move(lengths), starting_carry(cell, axes.step, options.initial_carry)};
}

// Runs a cell for one step.
template <Cell C>
Step<typename C::Carry> checked_step(C& cell, const typename C::Carry& carry, const Tensor& x, const Shape& batch) {
  Step<typename C::Carry> step = cell(carry, x);
  for_each_tensor(check_returned_part, "", std::as_const(step.carry), carry);
  check_output(step.y, batch);
  return step;
}

// A cell to run without a trace in the given one, as that one is now.
template <Cell C>
decltype(auto) aside(C& cell) {
  if constexpr (Cell<const C>) {
    return std::as_const(cell);
  } else if constexpr (Module<C>) {
    return strata::internal::clone(cell);
  } else {
    return C(cell);
  }
}

// Lets a gradient of nothing but zeros end at a part of a carry.
void block_carry_gradient(const std::string& part, Tensor& value);

[[nodiscard]] bool all_true(const Tensor& flags);

// Outputs behind the last valid step, filled as asked; the others as they are. y is time-major.
Tensor fill_padding(const Tensor& y, const Tensor& lengths, PaddingOutput output);

// Runs any cell, one step after the other, by operations on tensors: the meaning of a scan.
//
// Where a row has ended, the main line goes on over zeros, and the outputs over padding are computed on a line of their
// own that branches off: so that invalid numbers in padding reach neither valid outputs nor the cell's own state nor,
// unless the loss looks at outputs over padding, any gradient.
template <Cell C>
ScanResult<typename C::Carry> scan_by_steps(C& cell, const Tensor& x, const ScanOptions<typename C::Carry>& options) {
  using Carry = typename C::Carry;
  auto [axes, lengths, carry] = begin_scan(cell, x, options);
  const FlipOptions flip{.num_batch_dims = axes.batch.rank(), .time_major = true};
  Tensor steps = move_axis(x, axes.time_axis, 0);
  if (options.reverse) steps = flip_sequences(steps, lengths, flip);
  Carry selected = carry;
  Carry padded = carry;
  std::vector<Tensor> outputs;
  for (Index t = 0; t < axes.time; ++t) {
    const Tensor x_t = steps[t];
    if (!lengths) {
      Step<Carry> step = checked_step(cell, carry, x_t, axes.batch);
      carry = std::move(step.carry);
      outputs.push_back(std::move(step.y));
      continue;
    }
    const Tensor valid = rows_longer_than(*lengths, t);
    std::optional<Step<Carry>> over_padding;
    if (options.padding_output == PaddingOutput::keep && !all_true(valid)) {
      auto&& cell_aside = aside(cell);
      over_padding = cell_aside(std::as_const(padded), x_t);
    }
    Step<Carry> step = checked_step(cell, carry, select_rows(valid, x_t, zeros_like(x_t)), axes.batch);
    carry = std::move(step.carry);
    const auto select = [&](const std::string&, Tensor& line, const Tensor& now) {
      line = select_rows(valid, now, line);
    };
    for_each_tensor(select, "", selected, std::as_const(carry));
    if (over_padding) {
      step.y = select_rows(valid, step.y, block_zero_gradient(over_padding->y));
      padded = std::move(over_padding->carry);
      for_each_tensor(block_carry_gradient, "", padded);
    }
    for_each_tensor(select, "", padded, std::as_const(carry));
    outputs.push_back(std::move(step.y));
  }
  if (outputs.empty()) {
    auto&& cell_aside = aside(cell);
    outputs.push_back(cell_aside(std::as_const(carry), zeros(axes.step, x.dtype())).y);
  }
  Tensor y = stack(outputs, 0).slice(0, axes.time);
  if (lengths && options.padding_output != PaddingOutput::keep) y = fill_padding(y, *lengths, options.padding_output);
  if (options.reverse && options.keep_order) y = flip_sequences(y, lengths, flip);
  return {lengths ? std::move(selected) : std::move(carry), move_axis(y, 0, axes.time_axis)};
}

}  // namespace internal
}  // namespace strata::recurrent
