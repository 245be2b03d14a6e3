// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "strata/recurrent/stacked_cell.h"
#include "strata/recurrent/stream.h"

// Stacks of standard cells step by step in real time.
namespace strata::recurrent {

// The weights of a stack's cells as its streams read them: see PackedCell.
template <internal::FusableCell C>
class PackedStack {
 public:
  // Throws what PackedCell throws, and ShapeError if a cell does not take what the one before puts out.
  explicit PackedStack(const StackedCell<C>& stack) : residual_(stack.options.residual) {
    for (const C& cell : stack.cells) {
      PackedCell<C> packed(cell);
      if (!cells_.empty()) {
        internal::check_cell_input(cells_.size(), packed.in_features(), cells_.back().hidden_features());
      }
      cells_.push_back(std::move(packed));
    }
  }

  [[nodiscard]] const std::vector<PackedCell<C>>& cells() const noexcept { return cells_; }
  [[nodiscard]] bool residual() const noexcept { return residual_; }

 private:
  std::vector<PackedCell<C>> cells_;
  bool residual_;
};

// `batch` independent sequences that go through all cells of a stack at each step. Outputs and carries are those of
// recurrent::scan with one cell after the other over the whole sequence, bit for bit. Different streams may step in
// different threads.
template <internal::FusableCell C>
class StackedStream {
 public:
  using Carry = typename StackedCell<C>::Carry;

  // Begins with the cells' own initial carries. Throws ShapeError if batch < 1.
  StackedStream(const PackedStack<C>& stack, Index batch, StreamOptions options = {}) : residual_(stack.residual()) {
    for (const PackedCell<C>& cell : stack.cells()) {
      layers_.emplace_back(cell, batch, options);
      outputs_.emplace_back(static_cast<std::size_t>(batch * cell.hidden_features()));
    }
  }

  [[nodiscard]] Index batch() const noexcept { return layers_.front().batch(); }

  // One step: `in` is [batch, in_features of the first cell], `out` gets [batch, hidden_features of the last]; they
  // must not overlap. Allocates nothing and throws nothing: see Stream::step.
  void step(std::span<const float> in, std::span<float> out) noexcept {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const std::span<float> to = i + 1 < layers_.size() ? std::span<float>(outputs_[i]) : out;
      layers_[i].step(in, to);
      if (residual_ && in.size() == to.size()) {
        std::transform(in.begin(), in.end(), to.begin(), to.begin(), std::plus<>());
      }
      in = to;
    }
  }

  // The carries after the last step.
  [[nodiscard]] Carry state() const {
    Carry carry;
    for (const Stream<C>& layer : layers_) carry.push_back(layer.state());
    return carry;
  }

  // Goes on from these carries. Throws ShapeError or DTypeError, naming the part, if they are not what state() returns.
  void set_state(const Carry& carry) {
    const Carry expected = state();
    internal::for_each_tensor(internal::stream_carry_check, "", carry, expected);
    for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].set_state(carry[i]);
  }

  // Begins anew. Allocates nothing.
  void reset() noexcept {
    for (Stream<C>& layer : layers_) layer.reset();
  }

 private:
  std::vector<Stream<C>> layers_;
  std::vector<std::vector<float>> outputs_;  // of each cell; the last puts out elsewhere
  bool residual_;
};

// A stream of a stack, or of a packed one where several streams share its weights.
//
//   auto stream = rnn::stream(stack, 1);
//   stream.step(input, output);
template <internal::FusableCell C>
[[nodiscard]] StackedStream<C> stream(const StackedCell<C>& stack, Index batch, StreamOptions options = {}) {
  return StackedStream<C>(PackedStack<C>(stack), batch, options);
}

template <internal::FusableCell C>
[[nodiscard]] StackedStream<C> stream(const PackedStack<C>& stack, Index batch, StreamOptions options = {}) {
  return StackedStream<C>(stack, batch, options);
}

}  // namespace strata::recurrent
