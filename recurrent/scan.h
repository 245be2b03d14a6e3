// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/scan/fused.h"
#include "strata/recurrent/internal/scan/scan_by_steps.h"
#include "strata/recurrent/internal/scan/skipped_steps.h"
#include "strata/recurrent/packed_sequence.h"
#include "strata/recurrent/sequence.h"

namespace strata::recurrent {

// How one call runs a cell over a sequence.
template <class Carry>
struct ScanOptions {
  std::optional<Tensor> seq_lengths = {};  // integers [*batch] in [0, time]; by default all steps are valid
  std::optional<Tensor> mask = {};         // instead: bool [*batch, time], or as x has them: which steps run (see scan)
  std::optional<Carry> initial_carry = {};  // by default the cell's own
  // bool [*batch, time], or as x has them: true where an episode begins (see scan).
  std::optional<Tensor> resets = {};
  std::optional<Carry> reset_carry = {};  // what episodes begin with; by default the initial carry
  // What follows is as the RNN says where a call leaves it out, and without an RNN false or `keep`.
  std::optional<bool> time_major = {};  // x and y are [time, *batch, *features] instead of [*batch, time, *features]
  std::optional<bool> reverse = {};     // from the last valid step to the first; y in the order of processing
  std::optional<bool> keep_order = {};  // with reverse: y in the order of the input
  std::optional<PaddingOutput> padding_output = {};
  // For the backward pass keep only the carries after every so many steps, and compute what lies between them again; 0
  // means about the square root of the number of steps. Memory that otherwise grows with the number of steps then
  // grows with its square root, save x, y and their gradients, for a second forward pass. A cell that runs step by step
  // must keep its variables in their places, or StateError is thrown; and it runs without checkpoints under
  // nn::capture and where gradients of perturbations are asked for, since what it hands out keeps its history.
  std::optional<Index> checkpoint_every = {};
};

// The carry after each sequence's last valid step (the initial carry where the length is 0), and all outputs.
template <class Carry>
struct ScanResult {
  Carry carry;
  Tensor y;
};

// The same of a packed sequence.
template <class Carry>
struct PackedScanResult {
  Carry carry;
  PackedSequence y;
};

// Runs a cell over the sequence x, [*batch, time, *features] or time-major, from the given or the cell's own initial
// carry. There may be any number of batch axes, none included, and no time steps at all.
//
// The standard cells run as one fused operation if their options and element types allow, other cells step by step;
// both give the same numbers. Differentiable. NaN behind a sequence's last valid step reaches neither valid outputs nor
// carries, and gradients only where the loss looks at outputs over padding. Throws ShapeError, DTypeError or
// ValueError, before anything was computed or drawn, if x, lengths or carry do not fit; names the part. Only features
// that a cell which runs step by step does not take are seen at its first step.
//
// Resets: a row may hold several episodes, one behind the other. At a step flagged in `resets` the carry becomes
// `reset_carry` before the cell runs, and no gradient gets from there to the steps before. In reverse each episode is
// run from its own last step to its first, the flagged one: the carry is reset when that has been processed. So
// episodes never see each other, either way, and a row's carry is that of the episode that was processed last. The
// episode that is processed first starts from `initial_carry`, unless its first step is flagged and processed first.
// Flags behind the last valid step do nothing.
//
// Mask: a sequence ends with the last step that its row of the mask lets run, and what stands behind is padding, as
// with seq_lengths. A step that is skipped before that changes no carry, and whatever x holds there reaches nothing, no
// gradient either. Its output is zero with PaddingOutput::zero; otherwise it is that of the step processed last, in the
// same episode, and zero where none was. Results are those of the sequence without these steps: an episode that is
// flagged at a skipped step begins with its first step that runs.
//
// The element types of x, carry and parameters may differ in the standard cells: a step computes in the promoted type
// and rounds the new carry, and with it y, to the type of the carry, which at first is that of the parameters. Integers
// in x count as numbers of that type.
template <Cell C>
[[nodiscard]] ScanResult<typename C::Carry> scan(C& cell, const Tensor& x,
                                                 const ScanOptions<typename C::Carry>& options = {}) {
  if (options.mask) {
    const auto start = internal::begin_scan(cell, internal::fused_form(cell), x, options);
    const internal::SkippedSteps steps(start.shape(), start.axes.time_axis, *options.mask, start.resets);
    ScanOptions<typename C::Carry> unmasked = options;
    unmasked.mask = std::nullopt;
    unmasked.seq_lengths = steps.counts();
    if (!steps.has_holes()) return scan(cell, x, unmasked);
    unmasked.resets = steps.resets();
    unmasked.keep_order = false;
    ScanResult<typename C::Carry> result = scan(cell, steps.together(x), unmasked);
    result.y = steps.apart(result.y);
    return result;
  }
  if constexpr (internal::FusableCell<C>) {
    const std::optional<internal::FusedCell> fused = cell.fused();
    if (fused && internal::fused_takes(*fused, x)) return internal::scan_fused(cell, fused, x, options);
  }
  return internal::scan_by_steps(cell, x, options);
}

// The same over a packed sequence, without padding: outputs, carries and gradients are those of the padded one, and the
// cost is that of the real steps. Any cell sees at step t only the rows that have one. Resets are bool [total_steps];
// lengths and mask must be left out, and the options about layout and padding do not matter.
template <Cell C>
[[nodiscard]] PackedScanResult<typename C::Carry> scan(C& cell, const PackedSequence& x,
                                                       const ScanOptions<typename C::Carry>& options = {}) {
  if constexpr (internal::FusableCell<C>) {
    const std::optional<internal::FusedCell> fused = cell.fused();
    if (fused && internal::fused_takes(*fused, x.data())) return internal::scan_packed_fused(cell, fused, x, options);
  }
  return internal::scan_packed_by_steps(cell, x, options);
}

}  // namespace strata::recurrent
