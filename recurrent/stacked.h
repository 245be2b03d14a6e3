// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "strata/nn/dropout.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/internal/cells/depth.h"
#include "strata/recurrent/rnn.h"

namespace strata::recurrent {

// What a Stacked does in every call that does not say otherwise.
struct StackedOptions {
  bool residual = false;  // adds its input to the output of every layer that leaves the width as it is
  bool time_major = false;
  PaddingOutput padding_output = PaddingOutput::keep;
  std::optional<Index> checkpoint_every = {};  // by default as the layers say
  bool operator==(const StackedOptions&) const = default;
};

// How one call runs a stack.
template <class LayerCarry>
struct StackedScanOptions {
  std::optional<Tensor> seq_lengths = {};  // integers [*batch] in [0, time]; by default all steps are valid
  std::optional<Tensor> mask = {};         // instead: bool [*batch, time], or as x has them: which steps run (see scan)
  std::optional<std::vector<LayerCarry>> initial_carry = {};  // one for each layer; by default the cells' own
  std::optional<Tensor> resets = {};  // bool [*batch, time], or as x has them: true where an episode begins
  std::optional<std::vector<LayerCarry>> reset_carry = {};  // what episodes begin with; by default the initial carry
  // As the stack says where a call leaves them out.
  std::optional<bool> time_major = {};
  std::optional<PaddingOutput> padding_output = {};
  std::optional<Index> checkpoint_every = {};  // as in recurrent::ScanOptions
};

namespace internal {

// How a stack runs one of its layers.
template <class LayerCarry>
struct LayerCall {
  std::optional<Tensor> seq_lengths;
  std::optional<Tensor> mask;
  std::optional<LayerCarry> initial_carry;
  std::optional<Tensor> resets;
  std::optional<LayerCarry> reset_carry;
  bool time_major;
  PaddingOutput padding_output;
  std::optional<Index> checkpoint_every;
};

// x is a Tensor or a PackedSequence.
template <Cell C, class X>
auto run_layer(RNN<C>& layer, const X& x, const LayerCall<typename C::Carry>& call) {
  return layer.scan(x, {.seq_lengths = call.seq_lengths,
                        .mask = call.mask,
                        .initial_carry = call.initial_carry,
                        .resets = call.resets,
                        .reset_carry = call.reset_carry,
                        .time_major = call.time_major,
                        .keep_order = true,
                        .padding_output = call.padding_output,
                        .checkpoint_every = call.checkpoint_every});
}

template <Cell F, Cell B, class X>
auto run_layer(Bidirectional<F, B>& layer, const X& x, const LayerCall<typename Bidirectional<F, B>::Carry>& call) {
  typename Bidirectional<F, B>::ScanOptions options{.seq_lengths = call.seq_lengths,
                                                    .mask = call.mask,
                                                    .resets = call.resets,
                                                    .time_major = call.time_major,
                                                    .padding_output = call.padding_output,
                                                    .checkpoint_every = call.checkpoint_every};
  if (call.initial_carry) {
    options.initial_forward_carry = call.initial_carry->forward;
    options.initial_backward_carry = call.initial_carry->backward;
  }
  if (call.reset_carry) {
    options.reset_forward_carry = call.reset_carry->forward;
    options.reset_backward_carry = call.reset_carry->backward;
  }
  return layer.scan(x, options);
}

// A function of tensors, of the data of packed sequences.
template <class F>
Tensor map_data(const F& f, const Tensor& x) {
  return f(x);
}
template <class F>
PackedSequence map_data(const F& f, const PackedSequence& x) {
  return x.with_data(f(x.data()));
}
inline const Tensor& data_of(const Tensor& x) { return x; }
inline const Tensor& data_of(const PackedSequence& x) { return x.data(); }

}  // namespace internal

// Layers in depth, RNN or Bidirectional of one type, whose sizes may differ: each runs over the whole output of the one
// before. `dropout` acts on the output of all layers but the last. Outputs are in the order of the input also where
// layers are `reverse`; the stack's layout and padding hold for all layers.
//
//   recurrent::Stacked encoder({recurrent::RNN(recurrent::LSTMCell(12, 32, rngs)),
//                               recurrent::RNN(recurrent::LSTMCell(32, 16, rngs))}, nn::Dropout(0.2, rngs));
//
// At valid steps the numbers are those of PyTorch's layers with num_layers. Paths: `layers/0/cell/...`,
// `layers/0/forward_rnn/cell/...`, `dropout/...`.
template <class Layer>
struct Stacked {
  using Carry = std::vector<typename Layer::Carry>;
  using ScanOptions = StackedScanOptions<typename Layer::Carry>;

  std::vector<Layer> layers;
  nn::Dropout dropout;
  StackedOptions options;

  // Throws ValueError if there are no layers.
  explicit Stacked(std::vector<Layer> members, nn::Dropout between = nn::Dropout(0),
                   const StackedOptions& stack_options = {})
      : layers(std::move(members)), dropout(std::move(between)), options(stack_options) {
    internal::check_depth(layers.size(), "Stacked");
  }

  // The outputs of the last layer, [*batch, time, features] or time-major.
  [[nodiscard]] Tensor operator()(const Tensor& x, const ScanOptions& call = {}) { return scan(x, call).y; }

  // The carry of each layer after its last valid step, and the outputs of the last layer. Throws ShapeError if there
  // are not as many carries as layers; the other errors are those of recurrent::scan. What does not fit a layer
  // is seen when the layers before it have run.
  [[nodiscard]] ScanResult<Carry> scan(const Tensor& x, const ScanOptions& call = {}) {
    Carry carries;
    Tensor y = run(x, call, carries);
    if (options.residual) {
      y = internal::fill_skipped_steps(y, call.seq_lengths, call.mask, call.resets,
                                       call.time_major.value_or(options.time_major),
                                       call.padding_output.value_or(options.padding_output));
    }
    return {std::move(carries), std::move(y)};
  }

  // The same of a packed sequence.
  [[nodiscard]] PackedSequence operator()(const PackedSequence& x, const ScanOptions& call = {}) {
    return scan(x, call).y;
  }
  [[nodiscard]] PackedScanResult<Carry> scan(const PackedSequence& x, const ScanOptions& call = {}) {
    Carry carries;
    PackedSequence y = run(x, call, carries);
    return {std::move(carries), std::move(y)};
  }

  STRATA_FIELDS(layers, dropout, options)

 private:
  // Runs all layers over x, a Tensor or a PackedSequence.
  template <class X>
  X run(const X& x, const ScanOptions& call, Carry& carries) {
    if (call.initial_carry) internal::check_num_carries(call.initial_carry->size(), layers.size(), "Stacked");
    if (call.reset_carry) internal::check_num_carries(call.reset_carry->size(), layers.size(), "Stacked");
    X y = x;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const X input = i == 0 ? x : internal::map_data([&](const Tensor& data) { return dropout(data); }, y);
      internal::LayerCall<typename Layer::Carry> layer_call{
          .seq_lengths = call.seq_lengths,
          .mask = call.mask,
          .initial_carry = {},
          .resets = call.resets,
          .reset_carry = {},
          .time_major = call.time_major.value_or(options.time_major),
          .padding_output = call.padding_output.value_or(options.padding_output),
          .checkpoint_every = call.checkpoint_every ? call.checkpoint_every : options.checkpoint_every};
      if (call.initial_carry) layer_call.initial_carry = (*call.initial_carry)[i];
      if (call.reset_carry) layer_call.reset_carry = (*call.reset_carry)[i];
      auto result = internal::run_layer(layers[i], input, layer_call);
      carries.push_back(std::move(result.carry));
      const auto add_input = [&](const Tensor& data) {
        return internal::link(internal::data_of(input), data, options.residual);
      };
      y = internal::map_data(add_input, result.y);
    }
    return y;
  }
};

template <class Layer>
Stacked(std::initializer_list<Layer>, nn::Dropout = nn::Dropout(0), const StackedOptions& = {}) -> Stacked<Layer>;

}  // namespace strata::recurrent
