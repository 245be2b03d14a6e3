// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/zoneout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "recurrent/cells.h"
#include "strata/nn/mode.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/recurrent_dropout.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/tensor/error.h"
#include "support/compare.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;
using support::within;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;

// h' = x whatever h is, of 64 units.
SimpleCell copying_cell() {
  Rngs rngs(0);
  SimpleCell cell(64, 64, rngs, {.activation = relu});
  cell.dense_i.kernel.set_value(eye(64));
  cell.dense_h.kernel.set_value(zeros({64, 64}));
  return cell;
}

TEST(Zoneout, KeepsElementsByAFreshMaskAtEveryStep) {
  Rngs rngs(0);
  Zoneout cell(copying_cell(), {.h = 0.5}, rngs);
  const Tensor before = full({64}, 7);
  auto step = cell({before}, ones({64}));
  EXPECT_THAT(elements(step.y), testing::Each(testing::AnyOf(1, 7)));
  EXPECT_THAT(elements(step.y), testing::Contains(7));
  EXPECT_THAT(elements(step.y), testing::Contains(1));
  EXPECT_EQ(difference(step.carry.h, step.y, exactly), "");
  EXPECT_NE(difference(cell({before}, ones({64})).y, step.y, exactly), "");
}

TEST(Zoneout, KeepsAtTheRateOfThePart) {
  Rngs rngs(0);
  Zoneout cell(copying_cell(), {.h = 0.1}, rngs);
  const Doubles kept = elements(cell({ones({100, 64})}, zeros({100, 64})).y);
  EXPECT_NEAR(std::accumulate(kept.begin(), kept.end(), 0.0) / 6400, 0.1, 0.015);  // four standard deviations
}

// By hand: 0.25 * 8 + 0.75 * 4.
TEST(Zoneout, MixesByTheRateInEvaluation) {
  Rngs rngs(0);
  Zoneout cell(copying_cell(), {.h = 0.25}, rngs);
  nn::eval(cell);
  EXPECT_EQ(difference(cell({full({64}, 8)}, full({64}, 4)).y, full({64}, 5), exactly), "");
}

// Krueger et al.: h is computed from the memory as the cell made it, not from the one that is carried on.
TEST(Zoneout, ComputesHFromTheNewMemory) {
  Rngs rngs(0);
  LSTMCell lstm(2, 3, rngs);
  const LSTMCarry carry{full({3}, 2), ones({3})};
  const auto bare = lstm(carry, ones({2}));
  Zoneout kept(lstm, {.c = 1}, rngs);
  const auto step = kept(carry, ones({2}));
  EXPECT_EQ(difference(step.carry.c, carry.c, exactly), "");
  EXPECT_EQ(difference(step.carry.h, bare.carry.h, exactly), "");
  Zoneout both(lstm, {.c = 0.5, .h = 0.25}, rngs, {.deterministic = true});
  const auto mixed = both(carry, ones({2}));
  EXPECT_EQ(difference(mixed.carry.c, carry.c * 0.5 + bare.carry.c * 0.5, within(1e-6)), "");
  EXPECT_EQ(difference(mixed.carry.h, carry.h * 0.25 + bare.carry.h * 0.75, within(1e-6)), "");
}

TEST(Zoneout, StandsStillAtRatesOfOne) {
  Rngs rngs(0);
  Zoneout cell(LSTMCell(2, 3, rngs), {.c = 1, .h = 1}, rngs);
  const LSTMCarry carry{full({2, 3}, 2), ones({2, 3})};
  const auto [after, y] = scan(cell, ones({2, 4, 2}), {.initial_carry = carry});
  EXPECT_EQ(difference(after.c, carry.c, exactly), "");
  EXPECT_EQ(difference(after.h, carry.h, exactly), "");
  EXPECT_EQ(difference(y, ones({2, 4, 3}), exactly), "");
}

TEST(Zoneout, IsTheFusedCellAtRatesOfZero) {
  Rngs rngs(0);
  EXPECT_TRUE((Zoneout(LSTMCell(2, 3, rngs), {}, rngs).fused()));
  EXPECT_FALSE((Zoneout(LSTMCell(2, 3, rngs), {.h = 0.5}, rngs).fused()));
}

TEST(Zoneout, HandsTheMasksOfADropoutThrough) {
  Rngs rngs(0);
  RecurrentDropout dropped(GRUCell(2, 3, rngs), {.recurrent = 0.5}, rngs);
  Zoneout cell(dropped, {}, rngs);
  const Tensor x = random::normal(random::key(1), {2, 4, 2});
  EXPECT_EQ(difference(scan(cell, x).y, scan(dropped, x).y, exactly), "");
  EXPECT_EQ(elements(cell.cell.rngs.count), Doubles{1});
}

TEST(Zoneout, RefusesRatesThatDoNotFit) {
  Rngs rngs(0);
  EXPECT_THAT([&] { (Zoneout(LSTMCell(2, 3, rngs), {.c = 2}, rngs)); },
              ThrowsMessage<ValueError>(HasSubstr("rate of c is 2")));
  EXPECT_THAT([&] { (Zoneout(LSTMCell(2, 3, rngs), {.h = -1}, rngs)); },
              ThrowsMessage<ValueError>(HasSubstr("rate of h is -1")));
  EXPECT_THAT([&] { (Zoneout(GRUCell(2, 3, rngs), {.c = 0.5}, rngs)); },
              ThrowsMessage<ValueError>(HasSubstr("no part `c`")));
}

}  // namespace
}  // namespace strata::recurrent
