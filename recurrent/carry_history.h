// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/recurrent/scan.h"
#include "strata/tensor/create.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent {

struct CarryHistoryOptions {
  bool with_initial = false;  // one more entry, before that of the step processed first: what the sequence begins with
};

namespace internal {

// Throws ShapeError, naming the part, unless a part of a carry has the batch axes first.
void check_batched_part(const std::string& part, const Tensor& value, const Shape& batch);

// Parts [*batch, *part] as columns [*batch, n] of one type that holds the numbers of all.
[[nodiscard]] Tensor side_by_side(std::span<const Tensor> parts, const Shape& batch);

// The columns from `column` on that are a part like `like`, over time; counts `column` on.
[[nodiscard]] Tensor part_over_time(const Tensor& columns, const Tensor& like, const Shape& batch, Index& column);

// A cell whose output is all parts of its new carry.
template <Cell C>
struct CarryCell {
  using Carry = typename C::Carry;
  using Sequence = SequenceOf<C>;
  static constexpr int num_feature_axes = C::num_feature_axes;

  std::shared_ptr<C> cell;

  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    return (*this)(carry, x, begin_sequence(carry, x.shape()));
  }

  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x, const Sequence& sequence) {
    Step<Carry> result = step(*cell, carry, x, sequence);
    std::vector<Tensor> parts;
    for_each_tensor([&](const std::string&, const Tensor& part) { parts.push_back(part); }, "", result.carry);
    result.y = side_by_side(parts, x.shape().axes(0, x.rank() - num_feature_axes));
    return result;
  }

  [[nodiscard]] Sequence begin_sequence(const Carry& initial, const Shape& input) {
    return recurrent::begin_sequence(*cell, initial, input);
  }

  STRATA_FIELDS(cell)
};

}  // namespace internal

// All parts of the carry as each step leaves them, an LSTM's memory included: a carry whose parts are
// [*batch, time, *part], with time where x has it, in the order of `reverse` and `keep_order`. Steps that do not run,
// by lengths or mask, leave the carry as it is, whatever `padding_output` says; an episode that begins with such
// steps has the carry that it begins with.
//
//   auto [c, h] = carry_history(cell, x, {.seq_lengths = lengths});   // of an LSTM, each [batch, time, hidden]
//
// Differentiable. The cell runs step by step, whatever it is. Integers beside parts of floating type are exact up to
// 2^53. Throws ShapeError if a part does not have the batch axes first; the other errors are those of scan.
template <Cell C>
[[nodiscard]] typename C::Carry carry_history(C& cell, const Tensor& x,
                                              const ScanOptions<typename C::Carry>& options = {},
                                              const CarryHistoryOptions& history = {}) {
  using Carry = typename C::Carry;
  using Plain = std::remove_const_t<C>;
  const internal::ScanStart<Carry> start = internal::begin_scan(cell, internal::fused_form(cell), x, options);
  const auto& [initial, reset] = start.carries;
  const Shape& batch = start.axes.batch;
  const int time_axis = start.axes.time_axis;
  internal::for_each_tensor(
      [&](const std::string& part, const Tensor& value) { internal::check_batched_part(part, value, batch); }, "",
      initial);

  Tensor runs = options.mask.value_or(ones(x.shape().axes(0, batch.rank() + 1), DType::boolean));
  if (start.lengths) runs = internal::prefix_mask(*start.lengths, start.axes.time, time_axis);
  internal::SequenceShape shape = start.shape();
  shape.padding = PaddingOutput::repeat_last;
  const internal::SkippedSteps steps(shape, time_axis, runs, start.resets);

  ScanOptions<Carry> call{.initial_carry = initial,
                          .resets = steps.resets(),
                          .reset_carry = reset,
                          .time_major = start.time_major,
                          .reverse = start.reverse,
                          .padding_output = PaddingOutput::zero};
  if (options.mask || start.lengths) call.seq_lengths = steps.counts();
  // What is no module cannot be told apart from its copies, of which checkpoints run the steps again.
  if constexpr (Module<Plain>) call.checkpoint_every = options.checkpoint_every;
  auto&& own = internal::cell_to_run(cell);
  internal::CarryCell<Plain> carry_cell{std::shared_ptr<Plain>(std::shared_ptr<void>(), &own)};
  const Tensor columns = scan(carry_cell, steps.together(x), call).y;

  Carry result = initial;
  Index column = 0;
  const auto fill = [&](const std::string&, Tensor& part, const Tensor& first, const Tensor& at_reset) {
    part = steps.apart(internal::part_over_time(columns, first, batch, column), first, at_reset);
    if (!history.with_initial) return;
    const Tensor before = expand_dims(first, time_axis);
    part = start.reverse && start.keep_order ? concatenate({part, before}, time_axis)
                                             : concatenate({before, part}, time_axis);
  };
  internal::for_each_tensor(fill, "", result, initial, reset);
  return result;
}

}  // namespace strata::recurrent
