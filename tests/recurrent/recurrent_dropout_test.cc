// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/recurrent_dropout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "recurrent/cells.h"
#include "strata/nn/mode.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/tensor/error.h"
#include "support/compare.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;

static_assert(SequenceCell<RecurrentDropout<LSTMCell>> && SelfStartingCell<RecurrentDropout<GRUCell>>);
static_assert(!RecurrentProductCell<RunningSum> && !RecurrentProductCell<RecurrentDropout<LSTMCell>>);

// h' = x + h of 64 units, all in the recurrent product.
SimpleCell adding_cell() {
  Rngs rngs(0);
  SimpleCell cell(64, 64, rngs, {.activation = relu});
  cell.dense_i.kernel.set_value(eye(64));
  cell.dense_h.kernel.set_value(eye(64));
  return cell;
}

// A unit whose h is kept is doubled at each step, 1, 3, 7; one whose h is dropped stays at x = 1.
TEST(RecurrentDropout, HoldsOneMaskForAllStepsOfASequence) {
  Rngs rngs(0);
  RecurrentDropout cell(adding_cell(), {.recurrent = 0.5}, rngs);
  const Tensor y = scan(cell, ones({3, 64})).y;
  int kept = 0;
  for (Index unit = 0; unit < 64; ++unit) {
    const Doubles steps = elements(slice_axis(y, 1, unit, unit + 1));
    if (steps == Doubles{1, 3, 7})
      ++kept;
    else
      EXPECT_EQ(steps, (Doubles{1, 1, 1}));
  }
  EXPECT_GT(kept, 16);
  EXPECT_LT(kept, 48);
}

TEST(RecurrentDropout, HoldsOneMaskOfInputsToo) {
  Rngs rngs(0);
  RecurrentDropout cell(adding_cell(), {.input = 0.5}, rngs);
  const Tensor y = scan(cell, ones({3, 64})).y;
  int kept = 0;
  for (Index unit = 0; unit < 64; ++unit) {
    const Doubles steps = elements(slice_axis(y, 1, unit, unit + 1));
    if (steps == Doubles{2, 4, 6})
      ++kept;
    else
      EXPECT_EQ(steps, (Doubles{0, 0, 0}));
  }
  EXPECT_GT(kept, 16);
  EXPECT_LT(kept, 48);
}

TEST(RecurrentDropout, DrawsAFreshMaskAtTheNextCall) {
  Rngs rngs(0);
  RecurrentDropout cell(adding_cell(), {.recurrent = 0.5}, rngs);
  const Tensor first = scan(cell, ones({3, 64})).y;
  EXPECT_NE(difference(scan(cell, ones({3, 64})).y, first, exactly), "");
}

TEST(RecurrentDropout, GivesEachRowAMaskOfItsOwn) {
  Rngs rngs(0);
  RecurrentDropout cell(adding_cell(), {.recurrent = 0.5}, rngs);
  const Tensor y = scan(cell, ones({2, 3, 64})).y;
  EXPECT_NE(difference(y[0], y[1], exactly), "");
}

TEST(RecurrentDropout, DrawsOneKeyForEachMaskOfACall) {
  Rngs rngs({{"dropout", 0}});
  RecurrentDropout cell(adding_cell(), {.recurrent = 0.5, .input = 0.5}, rngs);
  (void)scan(cell, ones({3, 64}));
  EXPECT_EQ(elements(cell.rngs.count), Doubles{2});
  EXPECT_EQ(*cell.rngs.key.tag(), "dropout");
}

// With z = 1 all of h is passed on beside the product, whatever becomes of it there.
TEST(RecurrentDropout, LeavesAloneWhatAGRUPassesOn) {
  Rngs rngs(0);
  GRUCell gru(1, 4, rngs);
  gru.dense_i.bias->set_value(concatenate({zeros({4}), full({4}, 100), zeros({4})}, 0));
  RecurrentDropout cell(gru, {.recurrent = 1}, rngs);
  const auto carry = scan(cell, zeros({3, 1}), {.initial_carry = {{full({4}, 5)}}}).carry;
  EXPECT_EQ(elements(carry.h), (Doubles{5, 5, 5, 5}));
}

TEST(RecurrentDropout, DropsAllOfHAtARateOfOne) {
  Rngs rngs(0);
  RecurrentDropout cell(adding_cell(), {.recurrent = 1}, rngs);
  EXPECT_EQ(difference(scan(cell, ones({3, 64})).y, ones({3, 64}), exactly), "");
}

TEST(RecurrentDropout, IsTheFusedCellInEvaluation) {
  Rngs rngs(0);
  const LSTMCell lstm(2, 3, rngs);
  RecurrentDropout cell(lstm, {.recurrent = 0.5, .input = 0.5}, rngs);
  EXPECT_FALSE(cell.fused());
  nn::eval(cell);
  EXPECT_TRUE(cell.fused());
  LSTMCell bare = lstm;
  const Tensor x = random::normal(random::key(1), {2, 4, 2});
  EXPECT_EQ(difference(scan(cell, x).y, scan(bare, x).y, exactly), "");
  nn::train(cell);
  EXPECT_FALSE(cell.fused());
}

TEST(RecurrentDropout, IsTheFusedCellAtRatesOfZero) {
  Rngs rngs(0);
  const RecurrentDropout cell(LSTMCell(2, 3, rngs), {}, rngs);
  EXPECT_TRUE(cell.fused());
}

TEST(RecurrentDropout, DrawsForBothDirectionsOfABidirectional) {
  Rngs rngs(0);
  const auto cell = [&] { return RecurrentDropout(adding_cell(), {.recurrent = 0.5}, rngs); };
  Bidirectional layer(cell(), cell());
  const Tensor y = layer(ones({3, 64}));
  EXPECT_NE(difference(slice_axis(y, 1, 0, 64), slice_axis(flip_sequences(y, {}, {.num_batch_dims = 0}), 1, 64, 128),
                       exactly),
            "");
}

TEST(RecurrentDropout, RefusesRatesThatAreNoProbabilities) {
  Rngs rngs(0);
  const auto make = [&](RecurrentDropoutRates rates) { return RecurrentDropout(LSTMCell(2, 3, rngs), rates, rngs); };
  EXPECT_THAT([&] { make({.recurrent = -0.1}); }, ThrowsMessage<ValueError>(HasSubstr("rate of h is -0.1")));
  EXPECT_THAT([&] { make({.input = 1.5}); }, ThrowsMessage<ValueError>(HasSubstr("rate of x is 1.5")));
}

}  // namespace
}  // namespace strata::recurrent
