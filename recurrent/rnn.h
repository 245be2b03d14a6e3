// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "strata/recurrent/internal/fused.h"
#include "strata/recurrent/scan.h"

namespace strata::recurrent {

// What an RNN does in every call that does not say otherwise; the meaning of the fields is that of ScanOptions.
struct RNNOptions {
  bool time_major = false;
  bool reverse = false;
  bool keep_order = false;
  PaddingOutput padding_output = PaddingOutput::keep;
  bool operator==(const RNNOptions&) const = default;
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

// A cell with the way it is run over sequences: the layer of a network. Paths: `cell/...`.
template <Cell C>
struct RNN {
  using Carry = typename C::Carry;

  C cell;
  RNNOptions options;

  explicit RNN(C rnn_cell, RNNOptions rnn_options = {}) : cell(std::move(rnn_cell)), options(rnn_options) {}

  // All outputs, [*batch, time, hidden] or time-major.
  [[nodiscard]] Tensor operator()(const Tensor& x, const ScanOptions<Carry>& call = {}) { return scan(x, call).y; }

  // The carry after the last valid step, and all outputs. Errors are those of recurrent::scan.
  [[nodiscard]] ScanResult<Carry> scan(const Tensor& x, const ScanOptions<Carry>& call = {}) {
    ScanOptions<Carry> full = call;
    full.time_major = call.time_major.value_or(options.time_major);
    full.reverse = call.reverse.value_or(options.reverse);
    full.keep_order = call.keep_order.value_or(options.keep_order);
    full.padding_output = call.padding_output.value_or(options.padding_output);
    return recurrent::scan(cell, x, full);
  }

  STRATA_FIELDS(cell, options)
};

}  // namespace strata::recurrent
