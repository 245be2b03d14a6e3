// SPDX-License-Identifier: Apache-2.0

// What PyTorch computes, golden/stacks/torch.safetensors: projections, stacks, cells with layer norm.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "recurrent/cells.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/layer_norm_cells.h"
#include "strata/recurrent/projected_lstm_cell.h"
#include "strata/recurrent/stacked.h"
#include "strata/tensor/index.h"
#include "support/compare.h"
#include "support/safetensors.h"

namespace strata::recurrent {
namespace {

using support::difference;

constexpr support::Tolerance bound = support::within_scaled(1e-12);  // of the golden data for float64

// Both 4 wide in and 6 hidden, the projections to 3.
constexpr Index in = 4;
constexpr Index hidden = 6;
constexpr Index projected = 3;
const LSTMOptions doubles{.param_dtype = DType::float64};

using Data = std::map<std::string, Tensor>;

const Data& data() {
  static const Data tensors = support::load_safetensors(STRATA_GOLDEN_DIR "/stacks/torch.safetensors");
  return tensors;
}

// The module with the values of a case, none left over.
template <class M>
M loaded(M module, const std::string& name) {
  State state = nn::state(module);
  std::size_t found = 0;
  for (const auto& [path, variable] : nn::state(module)) {
    state.at(path).set_value(data().at(name + "/" + to_string(path)));
    ++found;
  }
  std::size_t stored = 0;
  for (const auto& [key, value] : data()) stored += key.starts_with(name + "/") ? 1 : 0;
  for (const char* other : {"/x", "/y", "/initial/h", "/initial/c", "/final/h", "/final/c"}) {
    stored -= data().count(name + other);
  }
  EXPECT_EQ(found, stored);
  nn::update(module, state);
  return module;
}

const Tensor& part(const std::string& name) { return data().at(name); }

LSTMCarry lstm_carry(const std::string& name, Index i) {
  return {.c = part(name + "/c")[i], .h = part(name + "/h")[i]};
}

void expect_lstm_carry(const LSTMCarry& carry, const std::string& name, Index i) {
  EXPECT_EQ(difference(carry.c, part(name + "/c")[i], bound), "");
  EXPECT_EQ(difference(carry.h, part(name + "/h")[i], bound), "");
}

HiddenCarry gru_carry(const std::string& name, Index i) { return {.h = part(name + "/h")[i]}; }

ProjectedLSTMCell projected_cell(Index width, Rngs& rngs) { return {width, hidden, projected, rngs, doubles}; }

TEST(ProjectedLSTMCell, AgreesWithPyTorch) {
  Rngs rngs(0);
  Stacked stack = loaded(Stacked({RNN(projected_cell(in, rngs))}), "projected");
  const auto [carry, y] = stack.scan(part("projected/x"), {.seq_lengths = part("lengths"),
                                                           .initial_carry = {{lstm_carry("projected/initial", 0)}},
                                                           .padding_output = PaddingOutput::zero});
  EXPECT_EQ(difference(y, part("projected/y"), bound), "");
  expect_lstm_carry(carry[0], "projected/final", 0);
}

TEST(Stacked, AgreesWithPyTorchsLSTM) {
  Rngs rngs(0);
  const auto layer = [&](Index width) { return RNN(OptimizedLSTMCell(width, hidden, rngs, doubles)); };
  Stacked stack = loaded(Stacked({layer(in), layer(hidden), layer(hidden)}), "lstm");
  const std::string initial = "lstm/initial";
  const auto [carry, y] = stack.scan(
      part("lstm/x"), {.seq_lengths = part("lengths"),
                       .initial_carry = {{lstm_carry(initial, 0), lstm_carry(initial, 1), lstm_carry(initial, 2)}},
                       .padding_output = PaddingOutput::zero});
  EXPECT_EQ(difference(y, part("lstm/y"), bound), "");
  for (Index i = 0; i < 3; ++i) expect_lstm_carry(carry[static_cast<std::size_t>(i)], "lstm/final", i);
}

TEST(Stacked, AgreesWithPyTorchsGRU) {
  Rngs rngs(0);
  const auto layer = [&](Index width) {
    return RNN(GRUCell(width, hidden, rngs, {.recurrent_bias = true, .param_dtype = DType::float64}));
  };
  Stacked stack = loaded(Stacked({layer(in), layer(hidden)}), "gru");
  const auto [carry, y] =
      stack.scan(part("gru/x"), {.seq_lengths = part("lengths"),
                                 .initial_carry = {{gru_carry("gru/initial", 0), gru_carry("gru/initial", 1)}},
                                 .padding_output = PaddingOutput::zero});
  EXPECT_EQ(difference(y, part("gru/y"), bound), "");
  for (Index i = 0; i < 2; ++i) {
    EXPECT_EQ(difference(carry[static_cast<std::size_t>(i)].h, part("gru/final/h")[i], bound), "");
  }
}

// A stack of two bidirectional layers; PyTorch numbers carries by layer, forward before backward.
template <class C>
void expect_bidirectional_stack(Stacked<Bidirectional<C>> stack, const std::string& name) {
  const std::string initial = name + "/initial";
  const auto [carry, y] =
      stack.scan(part(name + "/x"), {.seq_lengths = part("lengths"),
                                     .initial_carry = {{{lstm_carry(initial, 0), lstm_carry(initial, 1)},
                                                        {lstm_carry(initial, 2), lstm_carry(initial, 3)}}},
                                     .padding_output = PaddingOutput::zero});
  EXPECT_EQ(difference(y, part(name + "/y"), bound), "");
  for (Index i = 0; i < 2; ++i) {
    expect_lstm_carry(carry[static_cast<std::size_t>(i)].forward, name + "/final", 2 * i);
    expect_lstm_carry(carry[static_cast<std::size_t>(i)].backward, name + "/final", 2 * i + 1);
  }
}

TEST(Stacked, AgreesWithPyTorchsBidirectionalLSTM) {
  Rngs rngs(0);
  const auto cell = [&](Index width) { return OptimizedLSTMCell(width, hidden, rngs, doubles); };
  using Layer = Bidirectional<OptimizedLSTMCell>;
  expect_bidirectional_stack(
      loaded(Stacked({Layer(cell(in), cell(in)), Layer(cell(2 * hidden), cell(2 * hidden))}), "bidirectional_lstm"),
      "bidirectional_lstm");
}

TEST(Stacked, AgreesWithPyTorchsBidirectionalProjectedLSTM) {
  Rngs rngs(0);
  const auto layer = [&](Index width) {
    return Bidirectional(projected_cell(width, rngs), projected_cell(width, rngs));
  };
  expect_bidirectional_stack(loaded(Stacked({layer(in), layer(2 * projected)}), "bidirectional_projected"),
                             "bidirectional_projected");
}

TEST(LayerNormLSTMCell, AgreesWithTheFormulaInPyTorch) {
  Rngs rngs(0);
  const auto cell =
      loaded(LayerNormLSTMCell(in, hidden, rngs, {.epsilon = 1e-5, .param_dtype = DType::float64}), "layer_norm_lstm");
  const LSTMCarry carry{.c = part("layer_norm_lstm/initial/c"), .h = part("layer_norm_lstm/initial/h")};
  const auto step = cell(carry, part("layer_norm_lstm/x"));
  EXPECT_EQ(difference(step.carry.c, part("layer_norm_lstm/final/c"), bound), "");
  EXPECT_EQ(difference(step.carry.h, part("layer_norm_lstm/final/h"), bound), "");
  EXPECT_EQ(difference(step.y, step.carry.h, support::exactly), "");
}

TEST(LayerNormGRUCell, AgreesWithTheFormulaInPyTorch) {
  Rngs rngs(0);
  const auto cell =
      loaded(LayerNormGRUCell(in, hidden, rngs, {.epsilon = 1e-5, .param_dtype = DType::float64}), "layer_norm_gru");
  const auto step = cell({.h = part("layer_norm_gru/initial/h")}, part("layer_norm_gru/x"));
  EXPECT_EQ(difference(step.carry.h, part("layer_norm_gru/final/h"), bound), "");
  EXPECT_EQ(difference(step.y, step.carry.h, support::exactly), "");
}

}  // namespace
}  // namespace strata::recurrent
