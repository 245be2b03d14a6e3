// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/nn/internal/observers.h"
#include "strata/recurrent/internal/scan_start.h"
#include "strata/state/internal/clone.h"
#include "strata/tensor/create.h"
#include "strata/tensor/manipulate.h"

// What a scan means, for any cell.
namespace strata::recurrent::internal {

// Throws ShapeError unless a cell's output has the batch axes first.
void check_output(const Tensor& y, const Shape& batch);

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

// Outputs behind the last valid step, filled as asked; the others as they are. y is time-major.
Tensor fill_padding(const Tensor& y, const Tensor& lengths, PaddingOutput output);

// One step over padding, for the outputs there. Rows where it meets invalid numbers go a way of their own, so that
// these reach a gradient only if the loss looks at such a row. What the cell hands out there is nobody's.
template <Cell C>
Step<typename C::Carry> step_over_padding(C& cell, const typename C::Carry& carry, const Tensor& x,
                                          const Shape& batch) {
  using Carry = typename C::Carry;
  const nn::internal::ObserverScope unobserved(nn::internal::Observers{});
  const auto run = [&](const Carry& from, const Tensor& input) {
    auto&& cell_aside = aside(cell);
    return cell_aside(from, input);
  };
  Step<Carry> step = run(carry, x);
  Tensor sound = ones(batch, DType::boolean);
  const auto clear = [&](const std::string&, const Tensor& part) { clear_invalid_rows(part, sound); };
  clear("", x);
  clear("", step.y);
  for_each_tensor(clear, "", carry);
  for_each_tensor(clear, "", std::as_const(step.carry));
  if (!all_true(sound)) {
    Carry sound_carry = carry;
    const auto keep_sound = [&](const std::string&, Tensor& part) {
      part = select_rows(sound, part, zeros_like(part));
    };
    for_each_tensor(keep_sound, "", sound_carry);
    Step<Carry> sound_step = run(sound_carry, select_rows(sound, x, zeros_like(x)));
    const auto join = [&](const std::string&, Tensor& part, const Tensor& sound_part) {
      part = select_rows(sound, sound_part, block_zero_gradient(part));
    };
    join("", step.y, sound_step.y);
    for_each_tensor(join, "", step.carry, std::as_const(sound_step.carry));
  }
  step.y = block_zero_gradient(step.y);
  for_each_tensor(block_carry_gradient, "", step.carry);
  return step;
}

// Runs any cell, one step after the other, by operations on tensors: the meaning of a scan.
//
// Where a row has ended, the main line goes on over zeros, and the outputs over padding are computed on a line of their
// own that branches off: so that invalid numbers in padding reach neither valid outputs nor the cell's own state nor,
// unless the loss looks at outputs over padding, any gradient.
template <Cell C>
ScanResult<typename C::Carry> scan_by_steps(C& cell, const Tensor& x, const ScanOptions<typename C::Carry>& options) {
  using Carry = typename C::Carry;
  ScanStart<Carry> start = begin_scan(cell, x, options);
  const auto& [axes, lengths, carry_before, time_major, reverse, keep_order, padding_output] = start;
  Carry carry = carry_before;
  const FlipOptions flip{.num_batch_dims = axes.batch.rank(), .time_major = true};
  Tensor time_first = move_axis(x, axes.time_axis, 0);
  if (reverse) time_first = flip_sequences(time_first, lengths, flip);
  const std::vector<Tensor> steps = steps_of(time_first);
  Carry selected = carry;
  Carry padded = carry;
  std::vector<Tensor> outputs;
  for (Index t = 0; t < axes.time; ++t) {
    const Tensor& x_t = steps[static_cast<std::size_t>(t)];
    if (!lengths) {
      Step<Carry> step = checked_step(cell, carry, x_t, axes.batch);
      carry = std::move(step.carry);
      outputs.push_back(std::move(step.y));
      continue;
    }
    const Tensor valid = rows_longer_than(*lengths, t);
    std::optional<Step<Carry>> over_padding;
    if (padding_output == PaddingOutput::keep && !all_true(valid)) {
      over_padding = step_over_padding(cell, std::as_const(padded), x_t, axes.batch);
    }
    Step<Carry> step = checked_step(cell, carry, select_rows(valid, x_t, zeros_like(x_t)), axes.batch);
    carry = std::move(step.carry);
    const auto select = [&](const std::string&, Tensor& line, const Tensor& now) {
      line = select_rows(valid, now, line);
    };
    for_each_tensor(select, "", selected, std::as_const(carry));
    if (over_padding) {
      step.y = select_rows(valid, step.y, over_padding->y);
      padded = std::move(over_padding->carry);
    }
    for_each_tensor(select, "", padded, std::as_const(carry));
    outputs.push_back(std::move(step.y));
  }
  if (outputs.empty()) {
    const nn::internal::ObserverScope unobserved(nn::internal::Observers{});
    auto&& cell_aside = aside(cell);
    outputs.push_back(cell_aside(std::as_const(carry), zeros(axes.step, x.dtype())).y);
  }
  Tensor y = stack(outputs, 0).slice(0, axes.time);
  if (lengths && padding_output != PaddingOutput::keep) y = fill_padding(y, *lengths, padding_output);
  if (reverse && keep_order) y = flip_sequences(y, lengths, flip);
  return {lengths ? std::move(selected) : std::move(carry), move_axis(y, 0, axes.time_axis)};
}

}  // namespace strata::recurrent::internal
