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
  std::optional<Tensor> mask = {};         // instead: bool [*batch, time], or as x has them: which steps run (see scan)
  std::optional<ForwardCarry> initial_forward_carry = {};  // by default the cell's own
  std::optional<BackwardCarry> initial_backward_carry = {};
  std::optional<Tensor> resets = {};  // bool [*batch, time], or as x has them: true where an episode begins
  std::optional<ForwardCarry> reset_forward_carry = {};  // what episodes begin with; by default the initial carry
  std::optional<BackwardCarry> reset_backward_carry = {};
  // As the layer says where a call leaves them out.
  std::optional<bool> time_major = {};
  std::optional<PaddingOutput> padding_output = {};
  std::optional<Index> checkpoint_every = {};
};

// Makes one output of the forward and the backward one. What is not features stays as it is: the batch axes and that of
// time, or the steps of a packed sequence, come first. A plain function, so that modules can be compared.
using MergeFunction = Tensor (*)(const Tensor& forward, const Tensor& backward);

// The two side by side along the last axis: what Bidirectional does unless told otherwise.
[[nodiscard]] Tensor concatenate_features(const Tensor& forward, const Tensor& backward);

// What a Bidirectional does in every call that does not say otherwise.
struct BidirectionalOptions {
  MergeFunction merge = concatenate_features;
  bool time_major = false;
  PaddingOutput padding_output = PaddingOutput::keep;
  std::optional<Index> checkpoint_every = {};
  bool operator==(const BidirectionalOptions&) const = default;
};

namespace internal {

// The cell of one direction, under the path that an RNN would give it.
template <Cell C>
struct Direction {
  C cell;

  STRATA_FIELDS(cell)
};

// Throws ValueError if there is no function to merge with.
BidirectionalOptions checked(const BidirectionalOptions& options);

// What the function makes of both outputs. Throws ShapeError unless that begins with the axes `leading`.
Tensor merged(MergeFunction merge, const Tensor& forward, const Tensor& backward, const Shape& leading);

}  // namespace internal

// Runs one cell forward and one backward over a sequence, and merges their outputs, which are both in the order of the
// input. The backward cell begins at each sequence's own last valid step, so that its carry is the one after the first
// step. The cells may be of different types and widths. Paths: `forward_rnn/cell/...`, `backward_rnn/cell/...`.
template <Cell F, Cell B = F>
struct Bidirectional {
  using Carry = BidirectionalCarry<typename F::Carry, typename B::Carry>;
  using ScanOptions = BidirectionalScanOptions<typename F::Carry, typename B::Carry>;

  internal::Direction<F> forward_rnn;
  internal::Direction<B> backward_rnn;
  BidirectionalOptions options;

  // Throws ValueError if the function to merge with is null.
  Bidirectional(F forward_cell, B backward_cell, const BidirectionalOptions& bidirectional_options = {})
      : forward_rnn{std::move(forward_cell)},
        backward_rnn{std::move(backward_cell)},
        options(internal::checked(bidirectional_options)) {}

  [[nodiscard]] const F& forward_cell() const { return forward_rnn.cell; }
  [[nodiscard]] const B& backward_cell() const { return backward_rnn.cell; }

  // The merged outputs, [*batch, time, features] or time-major; features are those of both cells unless another merge
  // is given.
  [[nodiscard]] Tensor operator()(const Tensor& x, const ScanOptions& call = {}) { return scan(x, call).y; }

  // The carry of each direction after its last step, and the merged outputs. Errors are those of recurrent::scan, and
  // ShapeError if merging loses axes that are not features.
  [[nodiscard]] ScanResult<Carry> scan(const Tensor& x, const ScanOptions& call = {}) {
    const auto backward_options = of_backward(call);
    // Throws before the forward cell has run.
    internal::begin_scan(backward_rnn.cell, internal::fused_form(backward_rnn.cell), x, backward_options);
    auto forward = recurrent::scan(forward_rnn.cell, x, of_forward(call));
    auto backward = recurrent::scan(backward_rnn.cell, x, backward_options);
    Tensor y =
        internal::merged(options.merge, forward.y, backward.y, x.shape().axes(0, x.rank() - F::num_feature_axes));
    return {{std::move(forward.carry), std::move(backward.carry)}, std::move(y)};
  }

  // The same of a packed sequence; what is merged is the data of the outputs.
  [[nodiscard]] PackedSequence operator()(const PackedSequence& x, const ScanOptions& call = {}) {
    return scan(x, call).y;
  }
  [[nodiscard]] PackedScanResult<Carry> scan(const PackedSequence& x, const ScanOptions& call = {}) {
    const auto backward_options = of_backward(call);
    internal::begin_packed_scan(backward_rnn.cell, internal::fused_form(backward_rnn.cell), x, backward_options);
    auto forward = recurrent::scan(forward_rnn.cell, x, of_forward(call));
    auto backward = recurrent::scan(backward_rnn.cell, x, backward_options);
    Tensor y = internal::merged(options.merge, forward.y.data(), backward.y.data(), {x.total_steps()});
    return {{std::move(forward.carry), std::move(backward.carry)}, x.with_data(std::move(y))};
  }

  STRATA_FIELDS(forward_rnn, backward_rnn, options)

 private:
  [[nodiscard]] recurrent::ScanOptions<typename F::Carry> of_forward(const ScanOptions& call) const {
    return of_direction(call, call.initial_forward_carry, call.reset_forward_carry);
  }
  [[nodiscard]] recurrent::ScanOptions<typename B::Carry> of_backward(const ScanOptions& call) const {
    auto direction = of_direction(call, call.initial_backward_carry, call.reset_backward_carry);
    direction.reverse = true;
    direction.keep_order = true;
    return direction;
  }

  template <class C>
  [[nodiscard]] recurrent::ScanOptions<C> of_direction(const ScanOptions& call, const std::optional<C>& initial_carry,
                                                       const std::optional<C>& reset_carry) const {
    return {.seq_lengths = call.seq_lengths,
            .mask = call.mask,
            .initial_carry = initial_carry,
            .resets = call.resets,
            .reset_carry = reset_carry,
            .time_major = call.time_major.value_or(options.time_major),
            .padding_output = call.padding_output.value_or(options.padding_output),
            .checkpoint_every = call.checkpoint_every ? call.checkpoint_every : options.checkpoint_every};
  }
};

}  // namespace strata::recurrent
