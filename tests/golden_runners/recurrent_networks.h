// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "strata/nn/split.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/peephole_lstm_cell.h"
#include "strata/recurrent/projected_lstm_cell.h"
#include "strata/recurrent/rnn.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/recurrent/weights.h"
#include "strata/state/internal/leaves.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/manipulate.h"
#include "support/golden_runner.h"

// Recurrent networks of other libraries, built of the library's layers and filled with their weights.
namespace strata::golden {

inline Tensor sum_of_both(const Tensor& a, const Tensor& b) { return a + b; }

// What a case asks for, in the same words for all libraries.
struct Setting {
  recurrent::WeightLayout layout = recurrent::WeightLayout::pytorch;
  recurrent::WeightOptions options = {};
  std::string kind;  // LSTM, GRU, RNN
  Index in = 0;
  Index hidden = 0;
  Index projection = 0;  // of an LSTM; 0 is none
  Index layers = 1;
  bool bidirectional = false;
  bool sums = false;  // the outputs of both directions
  bool relu = false;
  recurrent::GRUForm form = recurrent::GRUForm::reset_after;
  recurrent::RNNOptions rnn = {};
};

template <class C>
C make_cell(const Setting& setting, Index in, DType dtype) {
  Rngs rngs(0);
  if constexpr (std::is_same_v<C, recurrent::GRUCell>) {
    return C{in, setting.hidden, rngs, {.form = setting.form, .recurrent_bias = true, .param_dtype = dtype}};
  } else if constexpr (std::is_same_v<C, recurrent::SimpleCell>) {
    return C{in,
             setting.hidden,
             rngs,
             {.activation = setting.relu ? static_cast<recurrent::Activation>(strata::relu) : strata::tanh,
              .param_dtype = dtype}};
  } else if constexpr (std::is_same_v<C, recurrent::ProjectedLSTMCell>) {
    return C{in, setting.hidden, setting.projection, rngs, {.param_dtype = dtype}};
  } else {
    return C{in, setting.hidden, rngs, {.param_dtype = dtype}};
  }
}

// The states of all layers and directions, [layers directions, *batch, hidden] as PyTorch has them; c is for LSTMs.
struct States {
  std::optional<Tensor> h, c;
};

struct Result {
  Tensor y;
  States states;
};

// Layers one upon the other, of one direction or two.
template <class C>
class Network {
 public:
  Network(const Setting& setting, DType dtype) : setting_(setting) {
    Index in = setting.in;
    for (Index i = 0; i < setting.layers; ++i) {
      if (setting.bidirectional) {
        both_.emplace_back(
            make_cell<C>(setting, in, dtype), make_cell<C>(setting, in, dtype),
            recurrent::BidirectionalOptions{.merge = setting.sums ? sum_of_both : recurrent::concatenate_features});
      } else {
        one_.emplace_back(make_cell<C>(setting, in, dtype), setting.rnn);
      }
      const Index width = setting.projection > 0 ? setting.projection : setting.hidden;
      in = setting.bidirectional ? 2 * width : width;
    }
  }

  void load(const State& weights) {
    if (setting_.bidirectional) {
      recurrent::load_weights(both_, weights, setting_.layout, setting_.options);
    } else {
      recurrent::load_weights(one_, weights, setting_.layout, setting_.options);
    }
  }

  [[nodiscard]] State exported() const {
    return setting_.bidirectional ? recurrent::export_weights(both_, setting_.layout)
                                  : recurrent::export_weights(one_, setting_.layout);
  }

  [[nodiscard]] State exported_cell(Index layer, bool backward, recurrent::WeightLayout layout) const {
    const auto i = static_cast<std::size_t>(layer);
    if (!setting_.bidirectional) return recurrent::export_weights(one_[i].cell, layout);
    return recurrent::export_weights(backward ? both_[i].backward_cell() : both_[i].forward_cell(), layout);
  }

  [[nodiscard]] std::vector<internal::Leaf> leaves() {
    return internal::collect_leaves(setting_.bidirectional ? internal::node_of(both_) : internal::node_of(one_));
  }

  // At most one of lengths and mask.
  Result run(const Tensor& x, const std::optional<Tensor>& lengths, const States& initial,
             const std::optional<Tensor>& mask = {}) {
    Result result{x, {}};
    std::vector<Tensor> h, c;
    for (Index i = 0; i < setting_.layers; ++i) {
      if (setting_.bidirectional) {
        run_both(i, result.y, {lengths, mask}, initial, h, c);
      } else {
        run_one(i, result.y, {lengths, mask}, initial, h, c);
      }
    }
    result.states.h = stack(h, 0);
    if (!c.empty()) result.states.c = stack(c, 0);
    return result;
  }

 private:
  using Carry = typename C::Carry;

  // Which steps count.
  struct Steps {
    std::optional<Tensor> lengths, mask;
  };

  static std::optional<Carry> carry_at(const States& states, Index position) {
    if (!states.h) return std::nullopt;
    Carry carry;
    carry.h = (*states.h)[position];
    if constexpr (std::is_same_v<Carry, recurrent::LSTMCarry>) carry.c = (*states.c)[position];
    return carry;
  }

  static void collect(const Carry& carry, std::vector<Tensor>& h, std::vector<Tensor>& c) {
    h.push_back(carry.h);
    if constexpr (std::is_same_v<Carry, recurrent::LSTMCarry>) c.push_back(carry.c);
  }

  void run_one(Index i, Tensor& y, const Steps& steps, const States& initial, std::vector<Tensor>& h,
               std::vector<Tensor>& c) {
    const auto result = one_[static_cast<std::size_t>(i)].scan(
        y, {.seq_lengths = steps.lengths, .mask = steps.mask, .initial_carry = carry_at(initial, i)});
    collect(result.carry, h, c);
    y = result.y;
  }

  void run_both(Index i, Tensor& y, const Steps& steps, const States& initial, std::vector<Tensor>& h,
                std::vector<Tensor>& c) {
    const auto result =
        both_[static_cast<std::size_t>(i)].scan(y, {.seq_lengths = steps.lengths,
                                                    .mask = steps.mask,
                                                    .initial_forward_carry = carry_at(initial, 2 * i),
                                                    .initial_backward_carry = carry_at(initial, 2 * i + 1),
                                                    .time_major = setting_.rnn.time_major,
                                                    .padding_output = setting_.rnn.padding_output});
    collect(result.carry.forward, h, c);
    collect(result.carry.backward, h, c);
    y = result.y;
  }

  Setting setting_;
  std::vector<recurrent::Bidirectional<C>> both_;
  std::vector<recurrent::RNN<C>> one_;
};

// Loads the weights, and demands that exporting and loading them again gives the same layer.
template <class C>
Network<C> loaded(const Setting& setting, const State& weights, DType dtype) {
  Setting lenient = setting;
  lenient.options.cast = true;
  Network<C> network(lenient, dtype);
  network.load(weights);
  Network<C> again(setting, dtype);
  again.load(network.exported());
  const auto ours = network.leaves();
  const auto theirs = again.leaves();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    support::require_close(*theirs[i].variable, *ours[i].variable, support::exactly,
                           "exported " + to_string(ours[i].path));
  }
  return network;
}

}  // namespace strata::golden
