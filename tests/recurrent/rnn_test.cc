// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/rnn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "recurrent/scan_problem.h"
#include "strata/nn/capture.h"
#include "strata/nn/value_and_grad.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/recurrent/stacked_cell.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/error.h"
#include "strata/tensor/index.h"
#include "strata/tensor/thread_pool.h"
#include "support/compare.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;
using support::within_scaled;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;

// ---------------------------------------------------------------- the layer

TEST(RNN, UsesItsOwnOptions) {
  RNN<RunningSum> layer(RunningSum{}, {.reverse = true, .keep_order = true});
  EXPECT_EQ(elements(layer(tensor({1.0f, 2.0f, 4.0f}, {3, 1}))), (Doubles{7, 6, 4}));
  RNN<RunningSum> padded(RunningSum{}, {.time_major = true, .padding_output = PaddingOutput::zero});
  EXPECT_EQ(elements(padded(ones({3, 1, 1}), {.seq_lengths = tensor({2})})), (Doubles{1, 2, 0}));
}

TEST(RNN, KeepsTheOptionsThatACallDoesNotMention) {
  RNN<RunningSum> layer(RunningSum{}, {.reverse = true});
  EXPECT_EQ(elements(layer(tensor({1.0f, 2.0f, 4.0f}, {3, 1}), {.seq_lengths = scalar(2)})), (Doubles{2, 3, 7}));
}

TEST(RNN, LetsACallOverrideItsOptionsBothWays) {
  RNN<RunningSum> layer(RunningSum{}, {.reverse = true});
  const Tensor x = tensor({1.0f, 2.0f, 4.0f}, {3, 1});
  EXPECT_EQ(elements(layer(x, {.reverse = false})), (Doubles{1, 3, 7}));
  EXPECT_EQ(elements(layer(x, {.keep_order = true})), (Doubles{7, 6, 4}));
}

TEST(RNN, ReturnsCarryAndOutputs) {
  RNN<RunningSum> layer{RunningSum{}};
  auto [carry, y] = layer.scan(three_rows(), {.initial_carry = RunningSum::Carry{ones({3, 1})}});
  EXPECT_EQ(elements(carry.sum), (Doubles{11, 27, 5}));
  EXPECT_EQ(y.shape(), (Shape{3, 4, 1}));
}

TEST(RNN, PutsTheCellsVariablesUnderCell) {
  Rngs rngs(0);
  const RNN layer(GRUCell(2, 3, rngs));
  std::vector<std::string> paths;
  for (const auto& [path, variable] : nn::state(layer)) paths.push_back(to_string(path));
  EXPECT_EQ(paths, (std::vector<std::string>{"cell/dense_h/kernel", "cell/dense_i/bias", "cell/dense_i/kernel"}));
}

TEST(RNN, OwnsNoRandomState) {
  Rngs rngs(0);
  RNN layer(LSTMCell(2, 3, rngs));
  const State before = nn::state(layer);
  (void)layer(ones({2, 4, 2}));
  EXPECT_EQ(nn::state(layer), before);
}

// ---------------------------------------------------------------- element types

TEST(Scan, ComputesHalfPrecisionInputsInTheTypeOfTheParameters) {
  Rngs rngs(0);
  LSTMCell cell(2, 3, rngs);
  const Tensor x = random::normal(random::key(1), {2, 4, 2}, DType::bfloat16);
  const auto result = scan(cell, x);
  EXPECT_EQ(result.y.dtype(), DType::float32);
  EXPECT_EQ(result.carry.c.dtype(), DType::float32);
  EXPECT_EQ(difference(result.y, scan(cell, x.astype(DType::float32)).y, within_scaled(2e-6)), "");
}

TEST(Scan, TakesIntegersAsNumbersOfTheParametersType) {
  Rngs rngs(0);
  GRUCell cell(2, 3, rngs);
  const Tensor x = random::randint(random::key(1), {2, 4, 2}, -2, 3);
  const auto result = scan(cell, x, {.seq_lengths = tensor({4, 2})});
  EXPECT_EQ(result.y.dtype(), DType::float32);
  const auto expected = scan(cell, x.astype(DType::float32), {.seq_lengths = tensor({4, 2})});
  EXPECT_EQ(difference(result.carry.h, expected.carry.h, within_scaled(2e-6)), "");
}

TEST(Scan, RoundsToTheTypeOfTheCarryInEveryStep) {
  Rngs rngs(0);
  GRUCell half(2, 3, rngs, {.param_dtype = DType::bfloat16});
  const Tensor x = random::normal(random::key(1), {2, 4, 2});
  const auto result = scan(half, x);
  EXPECT_EQ(result.y.dtype(), DType::bfloat16);
  EXPECT_EQ(result.carry.h.dtype(), DType::bfloat16);

  LSTMCell single(2, 3, rngs);
  EXPECT_EQ(scan(single, x.astype(DType::float64)).y.dtype(), DType::float32);
}

TEST(Scan, KeepsACarryOfParametersTypeWhenProductsAreInAnother) {
  Rngs rngs(0);
  const Tensor x = random::normal(random::key(1), {2, 4, 2});
  LSTMCell lstm(2, 3, rngs, {.dtype = DType::bfloat16});
  SimpleCell simple(2, 3, rngs, {.dtype = DType::bfloat16});
  EXPECT_EQ(scan(lstm, x).carry.c.dtype(), DType::float32);
  EXPECT_EQ(scan(simple, x).y.dtype(), DType::float32);

  LSTMCell plain = lstm;
  for (nn::Linear* map : {&plain.ii, &plain.if_, &plain.ig, &plain.io, &plain.hi, &plain.hf, &plain.hg, &plain.ho}) {
    map->dtype = std::nullopt;
  }
  const Tensor exact = scan(plain, x).y;
  EXPECT_NE(difference(scan(lstm, x).y, exact, exactly), "");              // products are rounded
  EXPECT_EQ(difference(scan(lstm, x).y, exact, within_scaled(0.03)), "");  // the bound of the golden data for bfloat16
}

TEST(Scan, TakesParametersOfBothHalfTypes) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    Rngs rngs(0);
    LSTMCell cell(2, 3, rngs, {.param_dtype = dtype});
    const auto result = scan(cell, ones({2, 4, 2}, dtype), {.seq_lengths = tensor({4, 0})});
    EXPECT_EQ(result.y.dtype(), dtype);
    EXPECT_EQ(result.carry.c.dtype(), dtype);
  }
}

// ---------------------------------------------------------------- hostile cells

TEST(Scan, RefusesInputsOfAnotherWidth) {
  Rngs rngs(0);
  LSTMCell fused(2, 3, rngs);
  GRUCell by_steps(2, 3, rngs, {.form = GRUForm::reset_before});
  EXPECT_THAT(
      [&] {
        (void)scan(fused, zeros({2, 4, 5}));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("2"), HasSubstr("[2, 4, 5]"))));
  EXPECT_THAT([&] { (void)scan(by_steps, zeros({2, 4, 5})); }, ThrowsMessage<ShapeError>(HasSubstr("[2, 5]")));
  EXPECT_THROW((void)scan(fused, zeros({2, 0, 5})), ShapeError);
  EXPECT_THROW((void)scan(by_steps, zeros({2, 0, 5})), ShapeError);
}

TEST(Scan, NamesThePartOfAStandardCarry) {
  Rngs rngs(0);
  LSTMCell cell(2, 3, rngs);
  const auto with = [&](const Tensor& c, const Tensor& h) {
    return [&cell, c, h] { (void)scan(cell, zeros({2, 4, 2}), {.initial_carry = LSTMCarry{.c = c, .h = h}}); };
  };
  EXPECT_THAT(with(zeros({2, 3}), zeros({1, 3})), ThrowsMessage<ShapeError>(HasSubstr("`h`")));
  EXPECT_THAT(with(zeros({2, 4}), zeros({2, 3})), ThrowsMessage<ShapeError>(HasSubstr("`c`")));
  EXPECT_THAT(with(zeros({2, 3}, DType::bfloat16), zeros({2, 3})), ThrowsMessage<DTypeError>(HasSubstr("`c`")));
}

TEST(Scan, UsesBiasesThatWereAddedAndDoesWithoutThoseRemoved) {
  Rngs rngs(0);
  LSTMCell cell(2, 3, rngs);
  cell.ii.bias = Param(full({3}, 0.5f));
  cell.ho.bias.reset();
  const Tensor x = random::normal(random::key(1), {2, 4, 2});
  EXPECT_EQ(difference(scan(cell, x).y, internal::scan_by_steps(cell, x, {}).y, within_scaled(2e-6)), "");
}

TEST(Scan, RefusesWeightsOfAnotherShape) {
  Rngs rngs(0);
  LSTMCell cell(2, 3, rngs);
  cell.hg.kernel.reset(zeros({2, 3}));
  EXPECT_THAT(
      [&] {
        (void)scan(cell, zeros({2, 4, 2}));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("[2, 3]"), HasSubstr("[3, 3]"))));
}

TEST(Scan, FollowsItsParametersToAnotherType) {
  Rngs rngs(0);
  GRUCell cell(2, 3, rngs);
  for (nn::Linear* map : {&cell.dense_i, &cell.dense_h}) map->kernel.reset(map->kernel.value().astype(DType::float64));
  cell.dense_i.bias->reset(cell.dense_i.bias->value().astype(DType::float64));
  const auto result = scan(cell, ones({2, 4, 2}, DType::float64));
  EXPECT_EQ(result.y.dtype(), DType::float64);
  EXPECT_EQ(result.carry.h.dtype(), DType::float64);
}

// ---------------------------------------------------------------- properties

RC_GTEST_PROP(ScanProperty, OneOperationAgreesWithSteps, ()) {
  const Problem problem = any_problem();
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&]<class C>(const C& cell) {
    RC_ASSERT(cell.fused().has_value());
    const auto options = problem.options(cell);
    const auto fused = scan_with_gradients(cell, problem.x(), options,
                                           [](C& c, const Tensor& x, const auto& o) { return scan(c, x, o); });
    const auto steps = scan_with_gradients(cell, problem.x(), options, [](C& c, const Tensor& x, const auto& o) {
      return internal::scan_by_steps(c, x, o);
    });
    assert_agreement(fused, steps, problem.dtype);
  });
}

// Runs the rows with these numbers, in this order; the result is that of the whole batch with its rows taken likewise.
template <class C>
void assert_rows_alone(const C& cell, const Problem& problem, const Tensor& rows) {
  C runner = cell;
  const auto options = problem.options(cell);
  auto whole = scan(runner, problem.x(), options);
  auto some_options = options;
  some_options.seq_lengths = take(*options.seq_lengths, rows, 0);
  if (options.initial_carry) some_options.initial_carry = take_rows(*options.initial_carry, rows);
  const auto some = scan(runner, take(problem.x(), rows, 0), some_options);
  assert_same(some, ScanResult<typename C::Carry>{take_rows(whole.carry, rows), take(whole.y, rows, 0)});
}

RC_GTEST_PROP(ScanProperty, ARowAloneIsTheRowInTheBatch, ()) {
  const Problem problem = any_batch();
  const Index row = *rc::gen::inRange<Index>(0, problem.batch[0]);
  for_each_cell(problem.in, problem.hidden, problem.dtype,
                [&](const auto& cell) { assert_rows_alone(cell, problem, tensor({row})); });
}

RC_GTEST_PROP(ScanProperty, ThePermutedBatchGivesPermutedResults, ()) {
  const Problem problem = any_batch();
  const Tensor order = random::permutation(random::key(*rc::gen::inRange(0, 1000)), problem.batch[0]);
  for_each_cell(problem.in, problem.hidden, problem.dtype,
                [&](const auto& cell) { assert_rows_alone(cell, problem, order); });
}

RC_GTEST_PROP(ScanProperty, TwoPiecesGiveTheWhole, ()) {
  Problem problem = any_batch();
  problem.lengths.reset();
  problem.reverse = false;
  const Index cut = *rc::gen::inRange<Index>(0, problem.time + 1);
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&]<class C>(const C& cell) {
    C runner = cell;
    auto options = problem.options(cell);
    const auto whole = scan(runner, problem.x(), options);
    const auto first = scan(runner, slice_axis(problem.x(), 1, 0, cut), options);
    options.initial_carry = first.carry;
    const auto second = scan(runner, slice_axis(problem.x(), 1, cut, problem.time), options);
    assert_same(whole, ScanResult<typename C::Carry>{second.carry, concatenate({first.y, second.y}, 1)});
  });
}

RC_GTEST_PROP(ScanProperty, CallsOfTheCellGiveTheScan, ()) {
  Problem problem = any_batch();
  problem.lengths.reset();
  problem.reverse = false;
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&]<class C>(const C& cell) {
    C runner = cell;
    const auto options = problem.options(cell);
    const auto whole = scan(runner, problem.x(), options);
    auto carry = options.initial_carry.value_or(cell.initial_carry({problem.batch[0], problem.in}));
    for (Index t = 0; t < problem.time; ++t) {
      auto step = cell(carry, move_axis(problem.x(), 1, 0)[t]);
      carry = step.carry;
      RC_ASSERT(difference(step.y, move_axis(whole.y, 1, 0)[t], within_scaled(value_bound(problem.dtype))).empty());
    }
  });
}

RC_GTEST_PROP(ScanProperty, TimeFirstIsTheSameSequence, ()) {
  Problem problem = any_problem();
  problem.time_major = false;
  Problem time_first = problem;
  time_first.time_major = true;
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&]<class C>(const C& cell) {
    C runner = cell;
    const auto batch_first = scan(runner, problem.x(), problem.options(cell));
    auto result = scan(runner, time_first.x(), time_first.options(cell));
    result.y = move_axis(result.y, 0, problem.batch.rank());
    assert_same(result, batch_first);
  });
}

RC_GTEST_PROP(ScanProperty, ReversedIsForwardOverTheFlippedSequence, ()) {
  Problem problem = any_batch();
  problem.reverse = true;
  problem.keep_order = false;
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&]<class C>(const C& cell) {
    C runner = cell;
    auto options = problem.options(cell);
    const auto reversed = scan(runner, problem.x(), options);
    options.keep_order = true;
    const auto in_order = scan(runner, problem.x(), options);
    options.reverse = false;
    assert_same(reversed, scan(runner, flip_sequences(problem.x(), problem.lengths), options));
    RC_ASSERT(identical(flip_sequences(in_order.y, problem.lengths), reversed.y));
  });
}

TEST(Scan, HasTheSameBitsForAnyNumberOfThreads) {
  const int before = num_threads();
  const Problem problem{.dtype = DType::float32,
                        .batch = {37},
                        .time = 11,
                        .in = 13,
                        .hidden = 48,
                        .time_major = false,
                        .reverse = true,
                        .keep_order = true,
                        .padding_output = PaddingOutput::keep,
                        .lengths = random::randint(random::key(2), {37}, 0, 12),
                        .given_carry = true};
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&]<class C>(const C& cell) {
    const auto run = [&](int threads) {
      set_num_threads(threads);
      return scan_with_gradients(cell, problem.x(), problem.options(cell),
                                 [](C& c, const Tensor& x, const auto& o) { return scan(c, x, o); });
    };
    const auto one = run(1);
    for (const int threads : {2, 3, 8}) {
      const auto several = run(threads);
      for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_TRUE(identical(one[i].value, several[i].value)) << one[i].name << " on " << threads << " threads";
      }
    }
  });
  set_num_threads(before);
}

// ---------------------------------------------------------------- values from the middle

struct SowingCell {
  using Carry = RunningSum::Carry;
  static constexpr int num_feature_axes = 1;

  Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    const Tensor sum = nn::perturb(*this, "perturbed", carry.sum + x);
    nn::sow(*this, "sum", sum);
    ++calls;
    return {{sum}, sum};
  }
  Carry initial_carry(const Shape& input) const { return {zeros(input)}; }

  int calls = 0;
  STRATA_FIELDS(calls)
};

TEST(RNN, ACellOfOnesOwnHandsOutAValueForEachStep) {
  RNN<SowingCell> layer(SowingCell{});
  const auto run = [](RNN<SowingCell>& m) { return m(tensor({1.0f, 2.0f, 4.0f}, {3, 1})); };
  const State values = nn::capture(layer, run, {.filter = path_contains("sum")}).state;
  ASSERT_EQ(values.size(), 3);
  EXPECT_EQ(elements(values.at({"cell", "sum", 2})), Doubles{7});
}

TEST(RNN, StepsOverPaddingHandOutNothing) {
  RNN<SowingCell> layer(SowingCell{});
  const auto run = [](RNN<SowingCell>& m) {
    return m(tensor({1.0f, 2.0f, 4.0f}, {1, 3, 1}), {.seq_lengths = tensor({2})});
  };
  const State values = nn::capture(layer, run, {.filter = path_contains("sum")}).state;
  ASSERT_EQ(values.size(), 3);
  EXPECT_EQ(elements(values.at({"cell", "sum", 1})), Doubles{3});
}

TEST(RNN, SequencesWithoutStepsHandOutNothing) {
  RNN<SowingCell> layer(SowingCell{});
  EXPECT_TRUE(nn::capture(layer, [](RNN<SowingCell>& m) { (void)m(zeros({2, 0, 1})); }).empty());
  const PackedSequence packed = PackedSequence::from_padded(zeros({2, 3, 1}), tensor({0, 0}));
  EXPECT_TRUE(nn::capture(layer, [&](RNN<SowingCell>& m) { (void)m(packed); }).empty());
}

// A stack asks its cells what they put out, which it tells nobody.
TEST(RNN, ACellOfCellsHandsOutAValueForEachStepOfEach) {
  RNN<StackedCell<SowingCell>> layer(StackedCell<SowingCell>({SowingCell{}, SowingCell{}}));
  const auto run = [](auto& m) { return m(tensor({1.0f, 2.0f, 4.0f}, {3, 1})); };
  const State values = nn::capture(layer, run, {.filter = path_contains("sum")}).state;
  ASSERT_EQ(values.size(), 6);
  EXPECT_EQ(elements(values.at({"cell", "cells", 0, "sum", 0})), Doubles{1});
  EXPECT_EQ(elements(values.at({"cell", "cells", 1, "sum", 2})), Doubles{1 + 3 + 7});
}

TEST(RNN, GradientsOfWhatACellPerturbsAreSummedOverSteps) {
  RNN<SowingCell> layer(SowingCell{});
  const auto loss = [](RNN<SowingCell>& m) { return sum(m(tensor({1.0f, 2.0f, 4.0f}, {3, 1}))); };
  const State grads = nn::grad(loss, nothing, {.perturbations = everything})(layer);
  EXPECT_EQ(elements(grads.at({"cell", "perturbed"})), Doubles{3 + 2 + 1});
}

}  // namespace
}  // namespace strata::recurrent
