// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "strata/recurrent/scan.h"

namespace strata::recurrent {

// What an RNN does in every call that does not say otherwise; the meaning of the fields is that of ScanOptions.
struct RNNOptions {
  bool time_major = false;
  bool reverse = false;
  bool keep_order = false;
  PaddingOutput padding_output = PaddingOutput::keep;
  std::optional<Index> checkpoint_every = {};
  bool operator==(const RNNOptions&) const = default;
};

// A cell with the way it is run over sequences: the layer of a network. Paths: `cell/...`.
template <Cell C>
struct RNN {
  using Carry = typename C::Carry;

  C cell;
  RNNOptions options;

  explicit RNN(C rnn_cell, RNNOptions rnn_options = {}) : cell(std::move(rnn_cell)), options(rnn_options) {}

  // All outputs, [*batch, time, hidden] or time-major.
  [[nodiscard]] Tensor operator()(const Tensor& x, const ScanOptions<Carry>& call = {}) { return scan(x, call).y; }

  // The outputs of a packed sequence, packed likewise.
  [[nodiscard]] PackedSequence operator()(const PackedSequence& x, const ScanOptions<Carry>& call = {}) {
    return scan(x, call).y;
  }

  // The carry after the last valid step, and all outputs. Errors are those of recurrent::scan.
  [[nodiscard]] ScanResult<Carry> scan(const Tensor& x, const ScanOptions<Carry>& call = {}) {
    return recurrent::scan(cell, x, completed(call));
  }
  [[nodiscard]] PackedScanResult<Carry> scan(const PackedSequence& x, const ScanOptions<Carry>& call = {}) {
    return recurrent::scan(cell, x, completed(call));
  }

  STRATA_FIELDS(cell, options)

 private:
  [[nodiscard]] ScanOptions<Carry> completed(const ScanOptions<Carry>& call) const {
    ScanOptions<Carry> full = call;
    full.time_major = call.time_major.value_or(options.time_major);
    full.reverse = call.reverse.value_or(options.reverse);
    full.keep_order = call.keep_order.value_or(options.keep_order);
    full.padding_output = call.padding_output.value_or(options.padding_output);
    if (!call.checkpoint_every) full.checkpoint_every = options.checkpoint_every;
    return full;
  }
};

}  // namespace strata::recurrent
