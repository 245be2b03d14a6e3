// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strata/recurrent/internal/scan_by_steps.h"
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

// Throws ValueError if lengths are passed beside those of the sequence.
void check_no_lengths(const std::optional<Tensor>& lengths);

// Everything that can be known to be wrong before the cell runs throws here.
template <Cell C>
PackedStart<typename C::Carry> begin_packed_scan(const C& cell, const PackedSequence& x,
                                                 const ScanOptions<typename C::Carry>& options) {
  check_no_lengths(options.seq_lengths);
  check_feature_axes(x.data(), C::num_feature_axes);
  const Shape step = x.batch().append(x.data().shape().axes(1, x.data().rank()));
  std::optional<Tensor> resets;
  if (options.resets) resets = checked_resets(*options.resets, Shape{x.total_steps()});
  return {starting_carries(cell, step, options), std::move(resets),
          SequenceShape{.rows = packed_rows(x.lengths().data<Index>()),
                        .steps = x.max_length(),
                        .reverse = options.reverse.value_or(false),
                        .keep_order = options.keep_order.value_or(false),
                        .padding = PaddingOutput::zero}};
}

// A packed sequence step by step: rows sorted by length, so that those that are left at a step are the first ones.
class PackedSteps {
 public:
  PackedSteps(const PackedSequence& x, const SequenceShape& shape, const std::optional<Tensor>& resets);

  [[nodiscard]] Index count() const { return order_.processed_steps(); }
  [[nodiscard]] Index rows(Index t) const { return order_.active(t); }
  [[nodiscard]] const Tensor& x(Index t) const { return x_[static_cast<std::size_t>(t)]; }  // [rows(t), *features]

  // bool [rows(t)]: rows that are reset before step t; empty if none is.
  [[nodiscard]] std::optional<Tensor> resets(Index t) const;

  // A part of a carry, [*batch, ...], as sorted rows, and such rows as the caller has them. Throws ShapeError that names
  // the part if it does not have the batch axes first.
  [[nodiscard]] Tensor sorted(const std::string& part, const Tensor& value, const Shape& batch) const;
  [[nodiscard]] Tensor unsorted(const Tensor& rows, const Shape& batch) const;

  // Outputs of all steps as the data of a packed sequence.
  [[nodiscard]] Tensor packed(std::span<const Tensor> outputs) const;

 private:
  SequenceShape shape_;
  RowOrder order_;
  std::optional<Tensor> resets_;
  std::vector<Tensor> x_;
};

// Cuts a part of the carry of the sorted rows: keeps the first `count`, and puts the others, which have ended, before
// those that ended earlier.
Tensor end_rows(Tensor& part, Index count);

// Runs any cell over a packed sequence. At step t it sees the rows that have more than t steps.
template <Cell C>
PackedScanResult<typename C::Carry> scan_packed_by_steps(C& cell, const PackedSequence& x,
                                                         const ScanOptions<typename C::Carry>& options) {
  using Carry = typename C::Carry;
  PackedStart<Carry> start = begin_packed_scan(cell, x, options);
  const PackedSteps steps(x, start.shape, start.resets);
  Carry carry = std::move(start.carries.initial);
  Carry reset_carry = std::move(start.carries.reset);
  const auto sort = [&](const std::string& name, Tensor& part) { part = steps.sorted(name, part, x.batch()); };
  for_each_tensor(sort, "", carry);
  if (start.resets) for_each_tensor(sort, "", reset_carry);
  std::vector<Carry> ended;  // of the shortest rows first
  std::vector<Tensor> outputs;
  Index rows = x.lengths().size();
  for (Index t = 0; t < steps.count(); ++t) {
    if (steps.rows(t) < rows) {
      rows = steps.rows(t);
      Carry out = carry;
      for_each_tensor([&](const std::string&, Tensor& part, Tensor& rest) { rest = end_rows(part, rows); }, "", carry,
                      out);
      ended.push_back(std::move(out));
    }
    if (const std::optional<Tensor> resets = steps.resets(t)) {
      Carry rows_left = reset_carry;
      for_each_tensor([&](const std::string&, Tensor& part) { part = part.slice(0, rows); }, "", rows_left);
      reset_rows(*resets, std::as_const(rows_left), carry);
    }
    Step<Carry> step = checked_step(cell, std::as_const(carry), steps.x(t), Shape{rows});
    carry = std::move(step.carry);
    outputs.push_back(std::move(step.y));
  }
  if (outputs.empty()) {
    auto&& cell_aside = aside(cell);
    const Shape step = Shape{rows}.append(x.data().shape().axes(1, x.data().rank()));
    outputs.push_back(cell_aside(std::as_const(carry), zeros(step, x.data().dtype())).y.slice(0, 0));
  }
  while (!ended.empty()) {
    for_each_tensor(
        [](const std::string&, Tensor& part, const Tensor& rest) {
          part = concatenate({part, rest}, 0);
        },
        "", carry, std::as_const(ended.back()));
    ended.pop_back();
  }
  for_each_tensor([&](const std::string&, Tensor& part) { part = steps.unsorted(part, x.batch()); }, "", carry);
  return {std::move(carry), x.with_data(steps.packed(outputs))};
}

}  // namespace strata::recurrent::internal
