// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strata/recurrent/internal/scan/scan_by_steps.h"
#include "strata/recurrent/packed_sequence.h"

// What a scan of a packed sequence means, for any cell.
namespace strata::recurrent::internal {

// What a scan of a packed sequence begins with.
template <class Carry>
struct PackedStart {
  StartingCarries<Carry> carries;
  std::optional<Tensor> resets;
  SequenceShape shape;
};

// Throws ValueError if lengths or a mask are passed beside the lengths of the sequence.
void check_no_lengths(const std::optional<Tensor>& lengths, const std::optional<Tensor>& mask);

// The inputs of one step of all rows, [*batch, *features].
Shape step_shape(const PackedSequence& x);

// Rows [*batch, *features] once for each of their steps: of the shape of the data of x.
Tensor at_each_step(const Tensor& rows, const PackedSequence& x);

// Everything that can be known to be wrong before the cell runs throws here. `fused` is what fused_form says of it.
template <Cell C>
PackedStart<typename C::Carry> begin_packed_scan(const C& cell, const std::optional<FusedCell>& fused,
                                                 const PackedSequence& x,
                                                 const ScanOptions<typename C::Carry>& options) {
  check_no_lengths(options.seq_lengths, options.mask);
  check_feature_axes(x.data(), C::num_feature_axes);
  StartingCarries<typename C::Carry> carries = starting_carries(cell, step_shape(x), options);
  check_fused_start(fused, x.data(), x.batch(), carries.initial);
  return {std::move(carries), checked_resets(options.resets, Shape{x.total_steps()}),
          SequenceShape{.rows = packed_rows(x.lengths().data<Index>()),
                        .steps = x.max_length(),
                        .reverse = options.reverse.value_or(false),
                        .keep_order = options.keep_order.value_or(false),
                        .padding = PaddingOutput::zero}};
}

// A packed sequence step by step: rows sorted by length, so that those that are left at a step are the first ones.
class PackedSteps {
 public:
  PackedSteps(const SequenceShape& shape, const std::optional<Tensor>& resets);

  [[nodiscard]] Index count() const { return order_.processed_steps(); }
  [[nodiscard]] Index rows(Index t) const { return t < 0 ? order_.rows() : order_.active(t); }

  // The data of a packed sequence, step by step: [rows(t), *features].
  [[nodiscard]] std::vector<Tensor> cut(const Tensor& data) const;

  // bool [rows(t)]: rows that are reset before step t; empty if none is.
  [[nodiscard]] std::optional<Tensor> resets(Index t) const;

  // A part of a carry, [*batch, ...], as sorted rows, and such rows as the caller has them. Throws ShapeError that
  // names the part if it does not have the batch axes first.
  [[nodiscard]] Tensor sorted(const std::string& part, const Tensor& value, const Shape& batch) const;
  [[nodiscard]] Tensor unsorted(const Tensor& rows, const Shape& batch) const;

  // Outputs of all steps as the data of a packed sequence.
  [[nodiscard]] Tensor packed(std::span<const Tensor> outputs) const;

 private:
  SequenceShape shape_;
  RowOrder order_;
  std::optional<Tensor> resets_;
};

// Cuts a part of the carry of the sorted rows: keeps the first `count`, and puts the others, which have ended, before
// those that ended earlier.
Tensor end_rows(Tensor& part, Index count);

// What goes on from step to step, for the sorted rows.
template <Cell C>
struct PackedLines {
  using Carry = typename C::Carry;

  Carry carry;  // of the rows that are left
  Carry reset;
  SequenceOf<C> sequence;

  STRATA_FIELDS(carry, reset, sequence)
};

// The first rows of every part of a carry.
template <class Carry>
Carry first_rows(Carry carry, Index count) {
  for_each_tensor([&](const std::string&, Tensor& part) { part = part.slice(0, count); }, "", carry);
  return carry;
}

// Runs the steps from `first` on, one for each of x, and adds their outputs; where rows have ended, before that step's
// output, the parts of their carry.
template <Cell C>
void run_packed_steps(C& cell, const PackedSteps& steps, Index first, std::span<const Tensor> x, PackedLines<C>& lines,
                      std::vector<Tensor>& outputs) {
  using Carry = typename C::Carry;
  auto& [carry, reset, sequence] = lines;
  for (Index t = first; t < first + static_cast<Index>(x.size()); ++t) {
    const Index rows = steps.rows(t);
    if (rows < steps.rows(t - 1)) {
      for_each_tensor([&](const std::string&, Tensor& part) { outputs.push_back(end_rows(part, rows)); }, "", carry);
    }
    if (const std::optional<Tensor> resets = steps.resets(t)) {
      reset_rows(*resets, first_rows(reset, rows), carry);
    }
    Step<Carry> step = checked_step(cell, std::as_const(carry), x[static_cast<std::size_t>(t - first)],
                                    first_rows(sequence, rows), Shape{rows});
    carry = std::move(step.carry);
    outputs.push_back(std::move(step.y));
  }
}

// The outputs of steps, and the carry of all rows, from what run_packed_steps has added and the carry of the rows that
// are left.
template <class Carry>
std::vector<Tensor> gather_ended(const PackedSteps& steps, const std::vector<Tensor>& outputs, Carry& carry) {
  std::vector<Tensor> y;
  std::vector<Carry> ended;  // of the shortest rows first
  auto next = outputs.begin();
  for (Index t = 0; t < steps.count(); ++t) {
    if (steps.rows(t) < steps.rows(t - 1)) {
      ended.push_back(carry);
      for_each_tensor([&](const std::string&, Tensor& part) { part = *next++; }, "", ended.back());
    }
    y.push_back(*next++);
  }
  for (; !ended.empty(); ended.pop_back()) {
    for_each_tensor(
        [](const std::string&, Tensor& part, const Tensor& rest) {
          part = concatenate({part, rest}, 0);
        },
        "", carry, std::as_const(ended.back()));
  }
  return y;
}

// Runs any cell over a packed sequence. At step t it sees the rows that have more than t steps.
template <Cell C>
PackedScanResult<typename C::Carry> scan_packed_by_steps(C& cell, const PackedSequence& x,
                                                         const ScanOptions<typename C::Carry>& options) {
  using Carry = typename C::Carry;
  PackedStart<Carry> start = begin_packed_scan(cell, fused_form(cell), x, options);
  const auto steps = std::make_shared<const PackedSteps>(start.shape, start.resets);
  PackedLines<C> lines{start.carries.initial, std::move(start.carries.reset), {}};
  if (x.total_steps() > 0) lines.sequence = begin_sequence(cell, start.carries.initial, step_shape(x));
  const auto sort = [&](const std::string& name, Tensor& part) { part = steps->sorted(name, part, x.batch()); };
  for_each_tensor(sort, "", lines.carry);
  for_each_tensor(sort, "", lines.reset);
  for_each_tensor(sort, "", lines.sequence);
  const std::vector<Tensor> inputs = steps->cut(x.data());
  std::vector<Tensor> outputs;
  run_in_parts<C>(cell, options.checkpoint_every, inputs, lines, outputs,
                  [steps](C& now, Index first, std::span<const Tensor> x_steps, PackedLines<C>& from,
                          std::vector<Tensor>& to) { run_packed_steps(now, *steps, first, x_steps, from, to); });
  Carry& carry = lines.carry;
  std::vector<Tensor> y = gather_ended(*steps, outputs, carry);
  if (y.empty()) {
    const Shape step = Shape{x.lengths().size()}.append(x.data().shape().axes(1, x.data().rank()));
    y.push_back(step_aside(cell, carry, zeros(step, x.data().dtype())).y.slice(0, 0));
  }
  for_each_tensor([&](const std::string&, Tensor& part) { part = steps->unsorted(part, x.batch()); }, "", carry);
  return {std::move(carry), x.with_data(steps->packed(y))};
}

}  // namespace strata::recurrent::internal
