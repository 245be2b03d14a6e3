// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/peephole_lstm_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/nn/activations.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/packed_sequence.h"
#include "strata/recurrent/recurrent_dropout.h"
#include "strata/tensor/error.h"
#include "strata/tensor/index.h"
#include "support/compare.h"
#include "support/gradient_check.h"

// That it agrees with ONNX Runtime: golden_recurrent.
namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;
using support::within;
using support::within_scaled;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

static_assert(SelfStartingCell<PeepholeLSTMCell> && Cell<const PeepholeLSTMCell>);
static_assert(RecurrentProductCell<PeepholeLSTMCell>);

constexpr Index in = 2;
constexpr Index hidden = 3;

// Biases and peepholes are drawn too.
PeepholeLSTMCell drawn_cell(int seed = 0) {
  Rngs rngs(seed);
  return {in,
          hidden,
          rngs,
          {.bias_init = nn::initializers::normal(0.3),
           .peephole_init = nn::initializers::normal(1.0),
           .param_dtype = DType::float64}};
}

Tensor drawn(int seed, const Shape& shape) { return random::normal(random::key(seed), shape, DType::float64); }

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

struct PlainCarry {
  std::vector<double> c, h;
};

// The equations, number by number.
PlainCarry plain_step(const PeepholeLSTMCell& cell, const PlainCarry& carry, const std::vector<double>& x) {
  const std::vector<double> input_kernel = elements(cell.dense_i.kernel);
  const std::vector<double> kernel = elements(cell.dense_h.kernel);
  const std::vector<double> bias = elements(*cell.dense_h.bias);
  const std::vector<double> ci = elements(cell.ci), cf = elements(cell.cf), co = elements(cell.co);
  const auto width = carry.c.size();
  const auto sum = [&](std::size_t gate, std::size_t unit) {
    const std::size_t column = gate * width + unit;
    double total = bias[column];
    for (std::size_t k = 0; k < x.size(); ++k) total += x[k] * input_kernel[k * 4 * width + column];
    for (std::size_t k = 0; k < width; ++k) total += carry.h[k] * kernel[k * 4 * width + column];
    return total;
  };
  PlainCarry next;
  for (std::size_t unit = 0; unit < width; ++unit) {
    const double old = carry.c[unit];
    const double c = sigmoid_of(sum(1, unit) + cf[unit] * old) * old +
                     sigmoid_of(sum(0, unit) + ci[unit] * old) * std::tanh(sum(2, unit));
    next.c.push_back(c);
    next.h.push_back(sigmoid_of(sum(3, unit) + co[unit] * c) * std::tanh(c));
  }
  return next;
}

TEST(PeepholeLSTMCell, FollowsItsEquations) {
  PeepholeLSTMCell cell = drawn_cell();
  const Tensor x = drawn(1, {5, in});
  const LSTMCarry start{.c = drawn(2, {hidden}), .h = drawn(3, {hidden})};
  const auto [carry, y] = scan(cell, x, {.initial_carry = start});
  PlainCarry plain{.c = elements(start.c), .h = elements(start.h)};
  for (Index t = 0; t < 5; ++t) {
    plain = plain_step(cell, plain, elements(x[t]));
    EXPECT_EQ(difference(y[t], tensor(plain.h, {hidden}), within_scaled(1e-12)), "");
  }
  EXPECT_EQ(difference(carry.c, tensor(plain.c, {hidden}), within_scaled(1e-12)), "");
}

// Each peephole acts on its own gate alone, and the output gate sees the new memory: with x and h of no weight,
//   c' = sigmoid(cf c) c + sigmoid(ci c) tanh(bg)    h' = sigmoid(co c') tanh(c').
TEST(PeepholeLSTMCell, ShowsTheOutputGateTheNewMemory) {
  Rngs rngs(0);
  PeepholeLSTMCell cell(1, 1, rngs,
                        {.kernel_init = nn::initializers::zeros(),
                         .recurrent_kernel_init = nn::initializers::zeros(),
                         .param_dtype = DType::float64});
  cell.dense_h.bias->set_value(tensor({0.0, 0.0, -100.0, 0.0}));  // tanh(bg) is -1
  cell.ci.set_value(tensor({-std::log(3.0)}));                    // for c = 1 a gate of 1/4
  cell.cf.set_value(tensor({std::log(3.0)}));                     // 3/4
  cell.co.set_value(tensor({2 * std::log(4.0)}));                 // for c' = 1/2 a gate of 4/5
  const auto step = cell({.c = ones({1}, DType::float64), .h = ones({1}, DType::float64)}, ones({1}, DType::float64));
  EXPECT_EQ(difference(step.carry.c, tensor({0.5}), within(1e-12)), "");
  EXPECT_EQ(difference(step.y, tensor({0.8 * std::tanh(0.5)}), within(1e-12)), "");
}

TEST(PeepholeLSTMCell, IsAnLSTMWithoutItsPeepholes) {
  Rngs rngs(0);
  Rngs same(0);
  PeepholeLSTMCell cell(in, hidden, rngs, {.param_dtype = DType::float64});
  OptimizedLSTMCell lstm(in, hidden, same, {.param_dtype = DType::float64});
  EXPECT_TRUE(identical(cell.dense_h.kernel, lstm.dense_h.kernel));
  const Tensor x = drawn(1, {2, 6, in});
  const LSTMCarry start{.c = drawn(2, {2, hidden}), .h = drawn(3, {2, hidden})};
  const auto got = scan(cell, x, {.initial_carry = start});
  const auto expected = scan(lstm, x, {.initial_carry = start});
  EXPECT_EQ(difference(got.y, expected.y, within_scaled(1e-12)), "");
  EXPECT_EQ(difference(got.carry.c, expected.carry.c, within_scaled(1e-12)), "");
  cell.co.set_value(ones({hidden}, DType::float64));
  EXPECT_NE(difference(scan(cell, x, {.initial_carry = start}).y, expected.y, within(1e-3)), "");
}

TEST(PeepholeLSTMCell, HasGradientsOfCarriesAndPeepholes) {
  PeepholeLSTMCell cell = drawn_cell();
  const auto f = [&](const Tensor& c, const Tensor& h, const Tensor& ci, const Tensor& cf, const Tensor& co) {
    cell.ci.reset(ci);
    cell.cf.reset(cf);
    cell.co.reset(co);
    const auto result =
        scan(cell, drawn(1, {2, 4, in}), {.seq_lengths = tensor({4, 1}), .initial_carry = LSTMCarry{.c = c, .h = h}});
    return concatenate({result.y.reshape({-1}), result.carry.c.reshape({-1})}, 0);
  };
  support::expect_gradients_match(f, drawn(2, {2, hidden}), drawn(3, {2, hidden}), drawn(4, {hidden}),
                                  drawn(5, {hidden}), drawn(6, {hidden}));
}

TEST(PeepholeLSTMCell, BeginsWithPeepholesOfZeroOrThoseOfItsInitializer) {
  Rngs rngs(0);
  const PeepholeLSTMCell zero(in, hidden, rngs);
  for (const Param* peephole : {&zero.ci, &zero.cf, &zero.co}) EXPECT_TRUE(identical(*peephole, zeros({hidden})));
  const PeepholeLSTMCell cell = drawn_cell();
  EXPECT_FALSE(identical(cell.ci, cell.cf));
  EXPECT_FALSE(identical(cell.cf, cell.co));
}

TEST(PeepholeLSTMCell, NamesItsPeepholesByTheirGates) {
  std::vector<std::string> paths;
  for (const auto& [path, variable] : nn::state(drawn_cell())) paths.push_back(to_string(path));
  EXPECT_EQ(paths, (std::vector<std::string>{"cf", "ci", "co", "dense_h/bias", "dense_h/kernel", "dense_i/kernel"}));
}

TEST(PeepholeLSTMCell, DropsHFromTheRecurrentProductsAlone) {
  const PeepholeLSTMCell cell = drawn_cell();
  const LSTMCarry carry{.c = drawn(2, {hidden}), .h = drawn(3, {hidden})};
  const Tensor none = zeros({hidden}, DType::float64);
  const auto dropped = cell.step_with_h(carry, drawn(1, {in}), none);
  const auto without = cell({.c = carry.c, .h = none}, drawn(1, {in}));
  EXPECT_EQ(difference(dropped.y, without.y, exactly), "");
}

TEST(PeepholeLSTMCell, RunsInBothDirectionsWithoutPadding) {
  Bidirectional layer(drawn_cell(1), drawn_cell(2));
  const Tensor x = drawn(1, {3, 6, in});
  const Tensor lengths = tensor({6, 0, 2});
  const auto padded = layer.scan(x, {.seq_lengths = lengths, .padding_output = PaddingOutput::zero});
  const auto packed = layer.scan(PackedSequence::from_padded(x, lengths));
  EXPECT_EQ(difference(packed.y.padded({.time = 6}), padded.y, within_scaled(1e-12)), "");
  EXPECT_EQ(difference(packed.carry.backward.c, padded.carry.backward.c, within_scaled(1e-12)), "");
}

TEST(PeepholeLSTMCell, RunsWithCheckpointsAndOtherFunctions) {
  Rngs rngs(0);
  PeepholeLSTMCell cell(in, hidden, rngs,
                        {.gate = nn::hard_sigmoid,
                         .activation = nn::softplus,
                         .peephole_init = nn::initializers::normal(1.0),
                         .param_dtype = DType::float64});
  const auto plain = [](auto& c, const Tensor& x, const auto& options) { return scan(c, x, options); };
  const auto expected = scan_with_gradients(cell, drawn(1, {2, 7, in}), {}, plain);
  const auto got = scan_with_gradients(cell, drawn(1, {2, 7, in}), {.checkpoint_every = 3}, plain);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(difference(got[i].value, expected[i].value, within_scaled(1e-11)), "") << got[i].name;
  }
}

// A step keeps the element types of the carry.
TEST(PeepholeLSTMCell, KeepsTheTypesOfItsCarry) {
  Rngs rngs(0);
  const PeepholeLSTMCell half(in, hidden, rngs, {.dtype = DType::bfloat16});
  const auto step = half(half.initial_carry({4, in}), ones({4, in}));
  EXPECT_EQ(step.carry.c.dtype(), DType::float32);
  const PeepholeLSTMCell narrow(in, hidden, rngs, {.param_dtype = DType::bfloat16});
  const auto narrow_step = narrow(narrow.initial_carry({4, in}), ones({4, in}));
  EXPECT_EQ(narrow_step.carry.c.dtype(), DType::bfloat16);
  EXPECT_EQ(narrow_step.y.dtype(), DType::bfloat16);
}

TEST(PeepholeLSTMCell, NamesWhatDoesNotFit) {
  const PeepholeLSTMCell cell = drawn_cell();
  const LSTMCarry carry = cell.initial_carry({4, in});
  EXPECT_THAT(
      [&] {
        (void)cell(carry, ones({4, 5}));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("PeepholeLSTMCell"), HasSubstr("[*batch, 2]"))));
  // Peepholes of 3 units would broadcast to it.
  EXPECT_THAT(
      [&] {
        (void)cell({.c = zeros({4, 1}), .h = carry.h}, ones({4, in}));
      },
      ThrowsMessage<ShapeError>(HasSubstr("`c`")));
  EXPECT_THAT(
      [&] {
        (void)cell({.c = carry.c, .h = zeros({4, 2})}, ones({4, in}));
      },
      ThrowsMessage<ShapeError>(HasSubstr("`h`")));
}

}  // namespace
}  // namespace strata::recurrent
