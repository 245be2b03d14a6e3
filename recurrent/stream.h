// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "strata/recurrent/internal/scan/fused.h"
#include "strata/recurrent/internal/streams/stream_checks.h"
#include "strata/recurrent/internal/streams/stream_state.h"

// Cells that run step by step in real time: fixed shapes, memory reserved beforehand, the state carried along.
namespace strata::recurrent {

// The weights of a standard cell as its streams read them. They are packed once and never change: a copy is the same
// weights, and any number of streams may use them, in any threads. What becomes of the cell afterwards does not matter.
template <internal::FusableCell C>
class PackedCell {
 public:
  // Throws ValueError if the cell's options ask for something that only single tensor operations can do (other
  // functions than the standard ones, a GRU that resets before the product), DTypeError unless all parameters are
  // float32 and ShapeError unless they have the cell's sizes, those of a learned carry included.
  explicit PackedCell(const C& cell)
      : weights_(internal::pack_for_streams(cell.fused())), initial_(cell.initial_carry({weights_->shape.input})) {
    const internal::PartForm expected{{weights_->shape.hidden}, DType::float32};
    internal::for_each_tensor([&](const std::string& part,
                                  const Tensor& value) { internal::check_own_part("stream", part, value, expected); },
                              "", std::as_const(initial_));
  }

  [[nodiscard]] Index in_features() const noexcept { return weights_->shape.input; }
  [[nodiscard]] Index hidden_features() const noexcept { return weights_->shape.hidden; }

 private:
  template <internal::FusableCell>
  friend class Stream;

  std::shared_ptr<const internal::PackedWeights<float>> weights_;
  typename C::Carry initial_;  // of one sequence
};

struct StreamOptions {
  // Share steps that are long enough with the threads of the pool. That takes locks; without it a step runs on its
  // thread alone and waits for nothing. The constructor starts the threads.
  bool use_thread_pool = false;
};

// `batch` independent sequences that advance together, one step a call. Outputs and carries are those of
// recurrent::scan over the whole sequence, bit for bit. Different streams may step in different threads.
template <internal::FusableCell C>
class Stream {
 public:
  using Carry = typename C::Carry;

  // Begins with the cell's own initial carry. Throws ShapeError if batch < 1.
  Stream(PackedCell<C> cell, Index batch, StreamOptions options = {})
      : cell_(std::move(cell)),
        batch_(internal::checked_batch(batch)),
        initial_(cell_.initial_),
        state_(*cell_.weights_, batch, options.use_thread_pool) {
    internal::for_each_tensor([&](const std::string&, Tensor& part) { part = internal::for_batch(part, {batch_}); }, "",
                              initial_);
    reset();
  }

  [[nodiscard]] Index batch() const noexcept { return batch_; }

  // One step: `in` is [batch, in_features], `out` gets [batch, hidden_features]; they must not overlap. Allocates
  // nothing and throws nothing: a span of another size ends the program, with a message on the standard error stream.
  void step(std::span<const float> in, std::span<float> out) noexcept {
    internal::require_step_sizes(in.size(), batch_ * cell_.in_features(), out.size(), batch_ * cell_.hidden_features());
    state_.step({in.data(), cell_.in_features()}, {out.data(), cell_.hidden_features()});
  }

  // The carry after the last step; its parts are [batch, hidden_features].
  [[nodiscard]] Carry state() const {
    Carry carry;
    internal::for_each_tensor([&](const std::string&, Tensor& part) { part = empty_part(); }, "", carry);
    state_.get_carry(internal::carry_view<float>(carry, cell_.hidden_features()));
    return carry;
  }

  // Goes on from this carry. Throws ShapeError or DTypeError, naming the part, if it is not what state() returns.
  void set_state(const Carry& carry) {
    const Tensor expected = empty_part();
    internal::for_each_tensor(
        [&](const std::string& name, const Tensor& part) { internal::stream_carry_check(name, part, expected); }, "",
        carry);
    state_.set_carry(internal::carry_view<const float>(carry, cell_.hidden_features()));
  }

  // Begins anew. Allocates nothing.
  void reset() noexcept {
    state_.set_carry(internal::carry_view<const float>(std::as_const(initial_), cell_.hidden_features()));
  }

 private:
  [[nodiscard]] Tensor empty_part() const {
    return Tensor::uninitialized({batch_, cell_.hidden_features()}, DType::float32);
  }

  PackedCell<C> cell_;
  Index batch_;
  Carry initial_;  // parts are [batch, hidden]
  internal::StreamState<float> state_;
};

// A stream of a cell, or of a packed one where several streams share their weights.
//
//   auto stream = rnn::stream(model.encoder.forward_cell(), 1);
//   stream.step(input, output);
template <internal::FusableCell C>
[[nodiscard]] Stream<C> stream(const C& cell, Index batch, StreamOptions options = {}) {
  return Stream<C>(PackedCell<C>(cell), batch, options);
}

template <internal::FusableCell C>
[[nodiscard]] Stream<C> stream(const PackedCell<C>& cell, Index batch, StreamOptions options = {}) {
  return Stream<C>(cell, batch, options);
}

}  // namespace strata::recurrent
