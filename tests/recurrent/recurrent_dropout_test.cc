// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/recurrent_dropout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/nn/mode.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/recurrent/stream.h"
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

TEST(RecurrentDropout, DrawsNothingForInputsThatTheCellDoesNotTake) {
  Rngs rngs(0);
  RecurrentDropout cell(LSTMCell(2, 3, rngs), {.recurrent = 0.5, .input = 0.5}, rngs);
  const State before = nn::state(cell);
  for (const DType dtype : {DType::float32, DType::float64}) {
    const Tensor wrong = ones({2, 4, 5}, dtype);
    EXPECT_THROW((void)scan(cell, wrong), ShapeError);
    EXPECT_THROW((void)scan(cell, PackedSequence::from_padded(wrong, tensor({4, 3}))), ShapeError);
  }
  EXPECT_EQ(nn::state(cell), before);
}

TEST(RecurrentDropout, DrawsNothingForInputsThatTheOtherDirectionDoesNotTake) {
  Rngs rngs(0);
  const auto dropout = [&](Index features) {
    return RecurrentDropout(LSTMCell(features, 3, rngs), {.recurrent = 0.5}, rngs);
  };
  Bidirectional<RecurrentDropout<LSTMCell>> layer(dropout(2), dropout(5));
  const State before = nn::state(layer);
  const Tensor x = ones({2, 4, 2});
  EXPECT_THROW((void)layer.scan(x), ShapeError);
  EXPECT_THROW((void)layer.scan(PackedSequence::from_padded(x, tensor({4, 3}))), ShapeError);
  EXPECT_EQ(nn::state(layer), before);
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
  EXPECT_TRUE(cell.fused()->is_masked);
  nn::eval(cell);
  EXPECT_FALSE(cell.fused()->is_masked);
  LSTMCell bare = lstm;
  const Tensor x = random::normal(random::key(1), {2, 4, 2});
  EXPECT_EQ(difference(scan(cell, x).y, scan(bare, x).y, exactly), "");
  nn::train(cell);
  EXPECT_TRUE(cell.fused()->is_masked);
}

TEST(RecurrentDropout, IsTheFusedCellAtRatesOfZero) {
  Rngs rngs(0);
  const RecurrentDropout cell(LSTMCell(2, 3, rngs), {}, rngs);
  EXPECT_FALSE(cell.fused()->is_masked);
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

TEST(RecurrentDropout, IsNoCellToStreamInTraining) {
  Rngs rngs(0);
  RecurrentDropout cell(LSTMCell(2, 3, rngs), {.recurrent = 0.5}, rngs);
  EXPECT_THAT([&] { (void)stream(cell, 1); }, ThrowsMessage<ValueError>(HasSubstr("nn::eval")));
  nn::eval(cell);
  EXPECT_EQ(stream(cell, 1).batch(), 1);
}

// The fused operation against steps, from cells with the same streams: values, and gradients of everything.
template <class C>
void expect_fused_as_by_steps(const C& cell, Index rows, Index time) {
  Rngs rngs(0);
  const RecurrentDropout dropped(cell, {.recurrent = 0.5, .input = 0.25}, rngs);
  const Index in = dropped.fused()->input;
  const Tensor x = random::normal(random::key(1), {rows, time, in}, DType::float64);
  ScanOptions<typename C::Carry> options{.initial_carry = dropped.initial_carry({rows, in})};
  internal::for_each_tensor([](const std::string&, Tensor& part) { part = part + 0.5; }, "", *options.initial_carry);
  const auto compare = [&](const Tensor& input) {
    const auto fused = scan_with_gradients(
        dropped, input, options, [](auto& c, const Tensor& given, const auto& o) { return scan(c, given, o); });
    const auto by_steps = scan_with_gradients(dropped, input, options, [](auto& c, const Tensor& given, const auto& o) {
      return internal::scan_by_steps(c, given, o);
    });
    ASSERT_EQ(fused.size(), by_steps.size());
    for (std::size_t i = 0; i < fused.size(); ++i) {
      EXPECT_EQ(difference(fused[i].value, by_steps[i].value, support::within_scaled(1e-9)), "") << fused[i].name;
    }
  };
  compare(x);
  std::vector<Index> lengths;
  for (Index row = 0; row < rows; ++row) lengths.push_back(row % (time + 1));
  options.seq_lengths = tensor(lengths, {rows});
  for (const auto padding : {PaddingOutput::keep, PaddingOutput::zero, PaddingOutput::repeat_last}) {
    options.padding_output = padding;
    compare(x);
  }
  options.reverse = true;
  compare(x);
  options.checkpoint_every = 3;
  compare(x);
  options.resets = random::bernoulli(random::key(2), {rows, time}, 0.4);
  compare(x);
  options.checkpoint_every = {};
  compare(x);
  options.resets = {};
  options.time_major = true;
  compare(move_axis(x, 1, 0));
}

TEST(RecurrentDropout, RunsAsTheFusedOperationInTraining) {
  Rngs rngs(0);
  for (const Index rows : {1, 3, 30}) {
    expect_fused_as_by_steps(LSTMCell(3, 5, rngs, {.param_dtype = DType::float64}), rows, 4);
    expect_fused_as_by_steps(GRUCell(3, 5, rngs, {.recurrent_bias = true, .param_dtype = DType::float64}), rows, 4);
    expect_fused_as_by_steps(SimpleCell(3, 5, rngs, {.param_dtype = DType::float64}), rows, 4);
  }
}

// h' = relu(x + h dropped + h): a unit whose h is dropped goes 1, 2, 3, another one 1, 4, 13.
TEST(RecurrentDropout, LeavesAResidualAlone) {
  Rngs rngs(0);
  SimpleCell simple = adding_cell();
  simple.options.residual = true;
  RecurrentDropout cell(simple, {.recurrent = 0.5}, rngs);
  const Tensor y = scan(cell, ones({3, 64})).y;
  EXPECT_THAT(elements(y[2]), testing::Each(testing::AnyOf(3, 13)));
  EXPECT_THAT(elements(y[2]), testing::Contains(3));
}

// Rows for several threads, and several chunks of pairs.
TEST(RecurrentDropout, RunsAsTheFusedOperationInThreads) {
  Rngs rngs(0);
  expect_fused_as_by_steps(OptimizedLSTMCell(20, 40, rngs, {.param_dtype = DType::float64}), 60, 20);
}

// Rows keep their masks where they are packed, on every way to run them.
TEST(RecurrentDropout, DropsTheSameInPackedSequences) {
  Rngs rngs(0);
  const RecurrentDropout cell(GRUCell(3, 5, rngs, {.param_dtype = DType::float64}), {.recurrent = 0.5, .input = 0.25},
                              rngs);
  const Tensor x = random::normal(random::key(1), {4, 6, 3}, DType::float64);
  const Tensor lengths = tensor({2, 6, 0, 5});
  const Tensor resets = random::bernoulli(random::key(2), {4, 6}, 0.4);
  RecurrentDropout of_padded = nn::clone(cell);
  RecurrentDropout of_packed = nn::clone(cell);
  RecurrentDropout of_steps = nn::clone(cell);
  const auto padded = scan(of_padded, x, {.seq_lengths = lengths, .resets = resets});
  const PackedSequence packed_x = PackedSequence::from_padded(x, lengths);
  const ScanOptions<GRUCell::Carry> options{.resets = PackedSequence::from_padded(resets, lengths).data()};
  const auto packed = scan(of_packed, packed_x, options);
  const auto by_steps = internal::scan_packed_by_steps(of_steps, packed_x, options);
  const Tensor expected = PackedSequence::from_padded(padded.y, lengths).data();
  EXPECT_EQ(difference(packed.y.data(), expected, exactly), "");
  EXPECT_EQ(difference(packed.carry.h, padded.carry.h, exactly), "");
  EXPECT_EQ(difference(by_steps.y.data(), expected, support::within_scaled(1e-12)), "");
  EXPECT_EQ(difference(by_steps.carry.h, padded.carry.h, support::within_scaled(1e-12)), "");
}

TEST(RecurrentDropout, TakesSeveralBatchAxes) {
  Rngs rngs(0);
  RecurrentDropout cell(GRUCell(3, 5, rngs), {.recurrent = 0.5, .input = 0.25}, rngs);
  RecurrentDropout same = nn::clone(cell);
  const Tensor x = random::normal(random::key(1), {2, 3, 4, 3});
  EXPECT_EQ(difference(scan(cell, x).y.reshape({6, 4, 5}), scan(same, x.reshape({6, 4, 3})).y, exactly), "");
}

TEST(RecurrentDropout, RefusesRatesThatAreNoProbabilities) {
  Rngs rngs(0);
  const auto make = [&](RecurrentDropoutRates rates) { return RecurrentDropout(LSTMCell(2, 3, rngs), rates, rngs); };
  EXPECT_THAT([&] { make({.recurrent = -0.1}); }, ThrowsMessage<ValueError>(HasSubstr("rate of h is -0.1")));
  EXPECT_THAT([&] { make({.input = 1.5}); }, ThrowsMessage<ValueError>(HasSubstr("rate of x is 1.5")));
}

}  // namespace
}  // namespace strata::recurrent
