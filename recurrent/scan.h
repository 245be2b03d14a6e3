// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/fused.h"
#include "strata/recurrent/internal/scan_by_steps.h"
#include "strata/recurrent/sequence.h"

namespace strata::recurrent {

// How one call runs a cell over a sequence.
template <class Carry>
struct ScanOptions {
  std::optional<Tensor> seq_lengths = {};   // integers [*batch] in [0, time]; by default all steps are valid
  std::optional<Carry> initial_carry = {};  // by default the cell's own
  // What follows is as the RNN says where a call leaves it out, and without an RNN false or `keep`.
  std::optional<bool> time_major = {};  // x and y are [time, *batch, *features] instead of [*batch, time, *features]
  std::optional<bool> reverse = {};     // from the last valid step to the first; y in the order of processing
  std::optional<bool> keep_order = {};  // with reverse: y in the order of the input
  std::optional<PaddingOutput> padding_output = {};
};

// The carry after each sequence's last valid step (the initial carry where the length is 0), and all outputs.
template <class Carry>
struct ScanResult {
  Carry carry;
  Tensor y;
};

// Runs a cell over the sequence x, [*batch, time, *features] or time-major, from the given or the cell's own initial
// carry. There may be any number of batch axes, none included, and no time steps at all.
//
// The standard cells run as one fused operation if their options and element types allow, other cells step by step;
// both give the same numbers. Differentiable. NaN behind a sequence's last valid step reaches neither valid outputs nor
// carries, and gradients only where the loss looks at outputs over padding. Throws ShapeError, DTypeError or
// ValueError, before anything was computed, if x, lengths or carry do not fit; names the part.
//
// The element types of x, carry and parameters may differ in the standard cells: a step computes in the promoted type
// and rounds the new carry, and with it y, to the type of the carry, which at first is that of the parameters. Integers
// in x count as numbers of that type.
template <Cell C>
[[nodiscard]] ScanResult<typename C::Carry> scan(C& cell, const Tensor& x,
                                                 const ScanOptions<typename C::Carry>& options = {}) {
  if constexpr (internal::FusableCell<C>) {
    const std::optional<internal::FusedCell> fused = cell.fused();
    if (fused && internal::fused_takes(*fused, x)) return internal::scan_fused(cell, *fused, x, options);
  }
  return internal::scan_by_steps(cell, x, options);
}

}  // namespace strata::recurrent
