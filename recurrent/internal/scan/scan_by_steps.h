// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strata/nn/internal/observers.h"
#include "strata/recurrent/internal/scan/recompute.h"
#include "strata/recurrent/internal/scan/scan_start.h"
#include "strata/tensor/create.h"
#include "strata/tensor/manipulate.h"

// What a scan means, for any cell.
namespace strata::recurrent::internal {

// Throws ShapeError unless a cell's output has the batch axes first.
void check_output(const Tensor& y, const Shape& batch);

// Runs a cell for one step.
template <Cell C>
Step<typename C::Carry> checked_step(C& cell, const typename C::Carry& carry, const Tensor& x,
                                     const SequenceOf<C>& sequence, const Shape& batch) {
  Step<typename C::Carry> step = recurrent::step(cell, carry, x, sequence);
  for_each_tensor(CarryCheck{"scan", "carry that the cell returned"}, "", std::as_const(step.carry), carry);
  check_output(step.y, batch);
  return step;
}

// Runs a cell as it is now without leaving a trace: neither in the cell nor with who observes its module.
template <class C, class F>
auto run_aside(C& cell, const F& run) {
  using Plain = std::remove_const_t<C>;
  const nn::internal::ObserverScope unobserved(nn::internal::Observers{});
  if constexpr (Cell<const Plain>) {
    return run(std::as_const(cell));
  } else {
    Plain copy = copy_of_cell(cell);
    return run(copy);
  }
}

// One step of that kind, in a sequence of its own.
template <class C>
auto step_aside(C& cell, const typename C::Carry& carry, const Tensor& x) {
  return run_aside(cell, [&](auto& now) { return now(carry, x); });
}

// Lets a gradient of nothing but zeros end at a part of a carry.
void block_carry_gradient(const std::string& part, Tensor& value);

// Outputs behind the last valid step, filled as asked; the others as they are. y is time-major.
Tensor fill_padding(const Tensor& y, const Tensor& lengths, PaddingOutput output);

// Sets the flagged rows [*batch] of a carry.
template <class Carry>
void reset_rows(const Tensor& flags, const Carry& reset, Carry& carry) {
  if (!any_true(flags)) return;
  const auto select = [&](const std::string&, Tensor& part, const Tensor& reset_part) {
    part = select_rows(flags, reset_part, part);
  };
  for_each_tensor(select, "", carry, reset);
}

// One step over padding, for the outputs there. Rows where it meets invalid numbers go a way of their own, so that
// these reach a gradient only if the loss looks at such a row. What the cell hands out there is nobody's.
template <Cell C>
Step<typename C::Carry> step_over_padding(C& cell, const typename C::Carry& carry, const Tensor& x,
                                          const SequenceOf<C>& sequence, const Shape& batch) {
  using Carry = typename C::Carry;
  const auto run = [&](const Carry& from, const Tensor& input) {
    return run_aside(cell, [&](auto& now) { return recurrent::step(now, from, input, sequence); });
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

// What goes on from step to step.
template <Cell C>
struct Lines {
  using Carry = typename C::Carry;

  Carry main;              // goes on over zeros where a row has ended
  Carry selected;          // of each row after its last valid step so far
  Carry padded;            // goes on over padding
  Carry reset;             // stays as it is, as does
  SequenceOf<C> sequence;  // what the cell has fixed

  STRATA_FIELDS(main, selected, padded, reset, sequence)
};

// What the steps of a scan are told, besides. Not tracked.
struct StepsPlan {
  Shape batch;
  std::optional<Tensor> lengths;
  std::optional<Tensor> resets_before;  // bool [time, *batch]
  PaddingOutput padding_output;
};

// Runs the steps from `first` on, one for each of x, and adds their outputs.
template <Cell C>
void run_steps(C& cell, const StepsPlan& plan, Index first, std::span<const Tensor> x, Lines<C>& lines,
               std::vector<Tensor>& outputs) {
  using Carry = typename C::Carry;
  auto& [carry, selected, padded, reset, sequence] = lines;
  for (Index t = first; t < first + static_cast<Index>(x.size()); ++t) {
    const Tensor& x_t = x[static_cast<std::size_t>(t - first)];
    if (plan.resets_before) reset_rows((*plan.resets_before)[t], std::as_const(reset), carry);
    if (!plan.lengths) {
      Step<Carry> step = checked_step(cell, carry, x_t, sequence, plan.batch);
      carry = std::move(step.carry);
      outputs.push_back(std::move(step.y));
      continue;
    }
    const Tensor valid = rows_longer_than(*plan.lengths, t);
    std::optional<Step<Carry>> over_padding;
    if (plan.padding_output == PaddingOutput::keep && !all_true(valid)) {
      over_padding = step_over_padding(cell, std::as_const(padded), x_t, sequence, plan.batch);
    }
    Step<Carry> step = checked_step(cell, carry, select_rows(valid, x_t, zeros_like(x_t)), sequence, plan.batch);
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
}

// Runs steps for which `run(cell, x, lines, outputs)` stands, so that only `lines` and outputs are kept of them.
template <Cell C, class L, class Run>
void run_recomputed(C& cell, std::span<const Tensor> x, L& lines, std::vector<Tensor>& outputs, const Run& run) {
  std::vector<Tensor> inputs;
  const auto add = [](std::vector<Tensor>& to, const L& from) {
    for_each_tensor([&](const std::string&, const Tensor& part) { to.push_back(part); }, "", from);
  };
  const auto read = [](std::span<const Tensor> from, L& to) {
    std::size_t next = 0;
    for_each_tensor([&](const std::string&, Tensor& part) { part = from[next++]; }, "", to);
    return next;
  };
  add(inputs, lines);
  inputs.insert(inputs.end(), x.begin(), x.end());
  L form = lines;
  for_each_tensor([](const std::string&, Tensor& part) { part = Tensor(); }, "", form);
  const std::vector<Tensor> results =
      recomputed(cell, inputs, [run, form, add, read](C& again, std::span<const Tensor> given) {
        L from = form;
        const std::size_t count = read(given, from);
        std::vector<Tensor> of_steps;
        run(again, given.subspan(count), from, of_steps);
        std::vector<Tensor> all;
        add(all, from);
        all.insert(all.end(), of_steps.begin(), of_steps.end());
        return all;
      });
  const std::size_t count = read(results, lines);
  outputs.insert(outputs.end(), results.begin() + static_cast<std::ptrdiff_t>(count), results.end());
}

// Runs all steps by `run(cell, first, x, lines, outputs)`, at once or between checkpoints.
template <class C, class L, class Run>
void run_in_parts(C& cell, const std::optional<Index>& checkpoint_every, std::span<const Tensor> x, L& lines,
                  std::vector<Tensor>& outputs, const Run& run) {
  const nn::internal::Observers& observers = nn::internal::observers();
  const bool is_observed = observers.collector != nullptr || observers.perturbations != nullptr;
  // What a cell hands out is kept anyway, with its history.
  if (!checkpoint_every || is_observed) return run(cell, 0, x, lines, outputs);
  const auto time = static_cast<Index>(x.size());
  const Index every = steps_between_checkpoints(*checkpoint_every, time);
  for (Index first = 0; first < time; first += every) {
    const auto part =
        x.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(every, time - first)));
    run_recomputed(cell, part, lines, outputs,
                   [run, first](C& again, std::span<const Tensor> steps, L& from, std::vector<Tensor>& to) {
                     run(again, first, steps, from, to);
                   });
  }
}

// Runs any cell, one step after the other, by operations on tensors: the meaning of a scan.
//
// Where a row has ended, the main line goes on over zeros, and the outputs over padding are computed on a line of their
// own that branches off: so that invalid numbers in padding reach neither valid outputs nor the cell's own state nor,
// unless the loss looks at outputs over padding, any gradient.
template <Cell C>
ScanResult<typename C::Carry> scan_by_steps(C& cell, const Tensor& x, const ScanOptions<typename C::Carry>& options) {
  using Carry = typename C::Carry;
  ScanStart<Carry> start = begin_scan(cell, fused_form(cell), x, options);
  const auto& [axes, lengths, resets, carries, time_major, reverse, keep_order, padding_output] = start;
  const FlipOptions flip{.num_batch_dims = axes.batch.rank(), .time_major = true};
  Tensor time_first = move_axis(x, axes.time_axis, 0);
  if (reverse) time_first = flip_sequences(time_first, lengths, flip);
  const std::vector<Tensor> steps = steps_of(time_first);
  StepsPlan plan{axes.batch, lengths, {}, padding_output};
  if (resets) plan.resets_before = reset_flags(start.shape(), *resets).reshape(Shape{axes.time}.append(axes.batch));
  Lines<C> lines{carries.initial, carries.initial, carries.initial, carries.reset, {}};
  if (axes.time > 0) lines.sequence = begin_sequence(cell, carries.initial, axes.step);
  std::vector<Tensor> outputs;
  run_in_parts<C>(cell, options.checkpoint_every, steps, lines, outputs,
                  [plan](C& now, Index first, std::span<const Tensor> x_steps, Lines<C>& from,
                         std::vector<Tensor>& to) { run_steps(now, plan, first, x_steps, from, to); });
  if (outputs.empty()) outputs.push_back(step_aside(cell, lines.main, zeros(axes.step, x.dtype())).y);
  Tensor y = stack(outputs, 0).slice(0, axes.time);
  if (lengths && padding_output != PaddingOutput::keep) y = fill_padding(y, *lengths, padding_output);
  if (reverse && keep_order) y = flip_sequences(y, lengths, flip);
  return {lengths ? std::move(lines.selected) : std::move(lines.main), move_axis(y, 0, axes.time_axis)};
}

}  // namespace strata::recurrent::internal
