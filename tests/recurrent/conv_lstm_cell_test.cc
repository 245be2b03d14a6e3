// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/conv_lstm_cell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/rnn.h"
#include "strata/tensor/error.h"
#include "support/compare.h"
#include "support/gradient_check.h"
#include "support/message_of.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;
using support::message_of;
using support::within;

static_assert(SelfStartingCell<ConvLSTMCell<1>> && Cell<const ConvLSTMCell<3>>);
static_assert(ConvLSTMCell<2>::num_feature_axes == 3);

TEST(ConvLSTMCell, HasThePathsAndShapesOfFlax) {
  Rngs rngs(0);
  const ConvLSTMCell<2> cell(3, 5, {3, 2}, rngs);
  std::vector<std::string> leaves;
  for (const auto& [path, variable] : nn::state(cell)) {
    leaves.push_back(to_string(path) + " " + to_string(variable.value().shape()));
  }
  EXPECT_EQ(leaves, (std::vector<std::string>{"hh/bias [20]", "hh/kernel [3, 2, 5, 20]", "ih/bias [20]",
                                              "ih/kernel [3, 2, 3, 20]"}));
  EXPECT_FALSE(ConvLSTMCell<1>(3, 5, {3}, rngs, {.use_bias = false}).ih.bias.has_value());
}

// By hand: the sums are i = 0.5, g = 1, f = -1, o = 2 at a grid of one position with c = 4 and kernels of zeros.
TEST(ConvLSTMCell, AddsOneToTheForgetGate) {
  Rngs rngs(0);
  ConvLSTMCell<1> cell(1, 1, {1}, rngs, {.kernel_init = nn::initializers::zeros()});
  cell.ih.bias->set_value(tensor({0.25f, 1.0f, -1.5f, 2.0f}));
  cell.hh.bias->set_value(tensor({0.25f, 0.0f, 0.5f, 0.0f}));
  const auto step = cell({.c = full({1, 1}, 4), .h = zeros({1, 1})}, ones({1, 1}));
  const double c = 0.5 * 4 + 0.6224593312 * 0.7615941560;
  EXPECT_NEAR(elements(step.carry.c)[0], c, 1e-6);
  EXPECT_NEAR(elements(step.y)[0], 0.8807970780 * std::tanh(c), 1e-6);
}

// With one tap every position is an LSTM of its own, of gates i, f, g, o and a forget bias that is larger by 1.
TEST(ConvLSTMCell, OfOneTapIsAnLSTMAtEachPosition) {
  Rngs rngs(0);
  const ConvLSTMCell<2> cell(2, 3, {1, 1}, rngs);
  OptimizedLSTMCell lstm(2, 3, rngs);
  const auto reordered = [](const Tensor& columns) {
    const std::vector<Tensor> gates = split_axis(columns, 4, -1);
    return concatenate({gates[0], gates[2], gates[1], gates[3]}, -1);
  };
  lstm.dense_i.kernel.set_value(reordered(cell.ih.kernel).reshape({2, 12}));
  lstm.dense_h.kernel.set_value(reordered(cell.hh.kernel).reshape({3, 12}));
  lstm.dense_h.bias->set_value(reordered(concatenate({zeros({6}), ones({3}), zeros({3})}, 0)));
  const Tensor x = random::normal(random::key(1), {4, 5, 6, 7, 2});  // [batch, time, *space, features]
  const Tensor rows = move_axis(x, 1, 3);                            // [batch, *space, time, features]
  EXPECT_EQ(difference(move_axis(scan(cell, x).y, 1, 3), scan(lstm, rows).y, within(1e-6)), "");
}

TEST(ConvLSTMCell, StartsWithZerosOfTheGrid) {
  Rngs rngs(0);
  const ConvLSTMCell<2> cell(3, 5, {3, 3}, rngs, {.param_dtype = DType::float64});
  EXPECT_EQ(difference(cell.initial_carry({2, 7, 6, 3}).c, zeros({2, 7, 6, 5}, DType::float64), exactly), "");
  EXPECT_EQ(cell.initial_carry({7, 6, 3}).h.shape(), (Shape{7, 6, 5}));
}

TEST(ConvLSTMCell, RunsInALayerOfEachDirection) {
  Rngs rngs(0);
  Bidirectional<ConvLSTMCell<1>> layer{ConvLSTMCell<1>(2, 3, {3}, rngs), ConvLSTMCell<1>(2, 3, {3}, rngs)};
  const auto [carry, y] = layer.scan(ones({2, 4, 5, 2}), {.seq_lengths = tensor({4, 0})});
  EXPECT_EQ(y.shape(), (Shape{2, 4, 5, 6}));
  EXPECT_EQ(difference(carry.backward.h[1], zeros({5, 3}), exactly), "");
}

TEST(ConvLSTMCell, OfNoTimeGivesNothing) {
  Rngs rngs(0);
  const ConvLSTMCell<1> cell(2, 3, {3}, rngs);
  EXPECT_EQ(scan(cell, zeros({2, 0, 5, 2})).y.shape(), (Shape{2, 0, 5, 3}));
  EXPECT_EQ(scan(cell, zeros({0, 4, 5, 2})).y.shape(), (Shape{0, 4, 5, 3}));
}

TEST(ConvLSTMCell, KeepsInvalidPaddingToItself) {
  Rngs rngs(0);
  const ConvLSTMCell<1> cell(1, 2, {3}, rngs);
  Tensor x = random::normal(random::key(1), {1, 3, 4, 1});
  Tensor sequence = x[0];
  sequence.set(2, full({4, 1}, nan));
  x.set(0, sequence);
  GradientTape tape;
  ConvLSTMCell<1> watched = cell;
  watched.hh.kernel.reset(tape.watch(cell.hh.kernel));
  const auto result = scan(watched, x, {.seq_lengths = tensor({2})});
  const Tensor gradient = tape.gradient(sum(result.carry.h), {watched.hh.kernel.value()})[0];
  for (const double element : elements(gradient)) EXPECT_TRUE(std::isfinite(element));
}

TEST(ConvLSTMCell, KeepsTheTypeOfTheCarry) {
  Rngs rngs(0);
  const ConvLSTMCell<1> narrow(2, 3, {3}, rngs, {.dtype = DType::bfloat16});
  EXPECT_EQ(scan(narrow, ones({2, 4, 5, 2})).y.dtype(), DType::float32);
  const ConvLSTMCell<1> stored(2, 3, {3}, rngs, {.param_dtype = DType::bfloat16});
  EXPECT_EQ(scan(stored, ones({2, 4, 5, 2})).y.dtype(), DType::bfloat16);
}

TEST(ConvLSTMCell, HasGradientsOfParametersInputAndCarry) {
  Rngs rngs(0);
  const ConvLSTMCell<2> cell(2, 1, {3, 2}, rngs, {.padding = PaddingMode::circular, .param_dtype = DType::float64});
  const auto call = [&](const Tensor& input, const Tensor& hidden, const Tensor& bias, const Tensor& x,
                        const Tensor& h) {
    ConvLSTMCell<2> copy = cell;
    copy.ih.kernel.reset(input);
    copy.hh.kernel.reset(hidden);
    copy.hh.bias->reset(bias);
    return scan(copy, x, {.initial_carry = LSTMCarry{.c = h, .h = h}}).y;
  };
  support::expect_gradients_match(call, cell.ih.kernel.value(), cell.hh.kernel.value(), cell.hh.bias->value(),
                                  random::normal(random::key(1), {2, 3, 2, 2}, DType::float64),
                                  random::normal(random::key(2), {3, 2, 1}, DType::float64));
}

TEST(ConvLSTMCell, RefusesPaddingThatChangesTheGrid) {
  Rngs rngs(0);
  EXPECT_EQ(
      message_of([&] {
        ConvLSTMCell<2>(1, 2, {3, 3}, rngs, {.padding = PaddingMode::valid});
      }),
      "[ConvLSTMCell] the padding changes the size of a grid under a kernel of [3, 3] taps, but the carry has the "
      "size of x. Choose PaddingMode::same, or widths that add up to one less than the taps on each axis.");
  EXPECT_THROW(ConvLSTMCell<1>(1, 2, {3}, rngs, {.padding = 2}), ValueError);
  EXPECT_THROW(ConvLSTMCell<2>(1, 2, {3, 3}, rngs, {.padding = PaddingMode::causal}), ValueError);
  EXPECT_THROW(ConvLSTMCell<2>(1, 2, {3, 0}, rngs), ShapeError);
  EXPECT_THROW(ConvLSTMCell<1>(0, 2, {3}, rngs), ShapeError);
  EXPECT_EQ(rngs.stream("params").count.value().item<int>(), 0);
}

TEST(ConvLSTMCell, TakesPaddingThatKeepsTheGrid) {
  Rngs rngs(0);
  EXPECT_NO_THROW(ConvLSTMCell<2>(1, 2, {1, 1}, rngs, {.padding = PaddingMode::valid}));
  EXPECT_NO_THROW(ConvLSTMCell<2>(1, 2, {4, 3}, rngs, {.padding = {{0, 3}, {1, 1}}}));
  EXPECT_NO_THROW(ConvLSTMCell<1>(1, 2, {3}, rngs, {.padding = PaddingMode::causal}));
  EXPECT_NO_THROW(ConvLSTMCell<3>(1, 2, {3, 2, 1}, rngs, {.padding = PaddingMode::reflect}));
}

TEST(ConvLSTMCell, NamesWhatDoesNotFit) {
  Rngs rngs(0);
  const ConvLSTMCell<2> cell(3, 2, {3, 3}, rngs);
  EXPECT_EQ(message_of([&] {
              (void)cell(cell.initial_carry({4, 4, 3}), ones({4, 3}));
            }),
            "[ConvLSTMCell] x is float32[4, 3], expected [*batch, 2 spatial axes, 3].");
  EXPECT_EQ(message_of([&] {
              (void)cell(cell.initial_carry({4, 5, 3}), ones({4, 4, 3}));
            }),
            "[ConvLSTMCell] part `c` of the carry is float32[4, 5, 2], expected shape [4, 4, 2] for x of shape [4, 4, "
            "3].");
  EXPECT_THROW((void)cell.initial_carry({4, 3}), ShapeError);
}

}  // namespace
}  // namespace strata::recurrent
