// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "strata/recurrent/rnn.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent {

// One carry for each direction.
template <class ForwardCarry, class BackwardCarry>
struct BidirectionalCarry {
  ForwardCarry forward;
  BackwardCarry backward;

  STRATA_FIELDS(forward, backward)
};

// How one call runs both directions.
template <class ForwardCarry, class BackwardCarry>
struct BidirectionalScanOptions {
  std::optional<Tensor> seq_lengths = {};  // integers [*batch] in [0, time]; by default all steps are valid
  std::optional<ForwardCarry> initial_forward_carry = {};
  std::optional<BackwardCarry> initial_backward_carry = {};
  bool time_major = false;
  PaddingOutput padding_output = PaddingOutput::keep;
};

// Makes one output of the forward and the backward one. A plain function, so that modules can be compared.
using MergeFunction = Tensor (*)(const Tensor& forward, const Tensor& backward);

// The two side by side along the last axis: what Bidirectional does unless told otherwise.
[[nodiscard]] Tensor concatenate_features(const Tensor& forward, const Tensor& backward);

// Runs one cell forward and one backward over a sequence, and merges their outputs, which are both in the order of the
// input. The backward cell begins at each sequence's own last valid step, so that its carry is the one after the first
// step. The cells may be of different types and widths. Paths: `forward_rnn/cell/...`, `backward_rnn/cell/...`.
//
// An RNN's own options for order and layout have no effect here.
template <Cell F, Cell B = F>
struct Bidirectional {
  using Carry = BidirectionalCarry<typename F::Carry, typename B::Carry>;
  using Options = BidirectionalScanOptions<typename F::Carry, typename B::Carry>;

  RNN<F> forward_rnn;
  RNN<B> backward_rnn;
  MergeFunction merge = concatenate_features;

  Bidirectional(F forward_cell, B backward_cell, MergeFunction merge_function = concatenate_features)
      : forward_rnn(std::move(forward_cell)), backward_rnn(std::move(backward_cell)), merge(merge_function) {}

  [[nodiscard]] const F& forward_cell() const { return forward_rnn.cell; }
  [[nodiscard]] const B& backward_cell() const { return backward_rnn.cell; }

  // The merged outputs, [*batch, time, features] or time-major; features are those of both cells unless another merge
  // is given.
  [[nodiscard]] Tensor operator()(const Tensor& x, const Options& options = {}) { return scan(x, options).y; }

  // The carry of each direction after its last step, and the merged outputs. Errors are those of recurrent::scan.
  [[nodiscard]] ScanResult<Carry> scan(const Tensor& x, const Options& options = {}) {
    const ScanOptions<typename F::Carry> forward_options{.seq_lengths = options.seq_lengths,
                                                         .initial_carry = options.initial_forward_carry,
                                                         .time_major = options.time_major,
                                                         .padding_output = options.padding_output};
    const ScanOptions<typename B::Carry> backward_options{.seq_lengths = options.seq_lengths,
                                                          .initial_carry = options.initial_backward_carry,
                                                          .time_major = options.time_major,
                                                          .reverse = true,
                                                          .keep_order = true,
                                                          .padding_output = options.padding_output};
    internal::begin_scan(backward_rnn.cell, x, backward_options);  // throws before the forward cell has run
    auto forward = recurrent::scan(forward_rnn.cell, x, forward_options);
    auto backward = recurrent::scan(backward_rnn.cell, x, backward_options);
    Tensor y = merge(forward.y, backward.y);
    return {{std::move(forward.carry), std::move(backward.carry)}, std::move(y)};
  }

  STRATA_FIELDS(forward_rnn, backward_rnn, merge)
};

}  // namespace strata::recurrent
