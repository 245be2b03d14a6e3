// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/nn/mode.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/rnn.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/error.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;

TEST(Scan, OfLengthZeroKeepsTheZeroCarry) {
  RunningSum cell;
  const auto result = scan(cell, three_rows(), {.seq_lengths = tensor({4, 2, 0})});
  EXPECT_EQ(elements(result.carry.sum), (Doubles{10, 11, 0}));  // ONNX Runtime 1.32
}

TEST(Scan, OfLengthZeroKeepsTheGivenCarry) {
  RunningSum cell;
  for (const bool reverse : {false, true}) {
    const auto result = scan(
        cell, three_rows(),
        {.seq_lengths = tensor({4, 2, 0}), .initial_carry = RunningSum::Carry{full({3, 1}, 100)}, .reverse = reverse});
    EXPECT_EQ(elements(result.carry.sum), (Doubles{110, 111, 100})) << reverse;  // by hand
  }
}

TEST(Scan, ComputesOutputsOverPaddingUnlessToldOtherwise) {
  RunningSum cell;
  const Tensor lengths = tensor({4, 2, 0});
  // Valid outputs: flax.nnx 0.12; the others go on over the padding.
  EXPECT_EQ(elements(scan(cell, three_rows(), {.seq_lengths = lengths}).y),
            (Doubles{1, 3, 6, 10, 5, 11, 18, 26, 1, 2, 3, 4}));
}

TEST(Scan, ZeroesOutputsOverPadding) {
  RunningSum cell;
  const auto result =
      scan(cell, three_rows(), {.seq_lengths = tensor({4, 2, 0}), .padding_output = PaddingOutput::zero});
  EXPECT_EQ(elements(result.y), (Doubles{1, 3, 6, 10, 5, 11, 0, 0, 0, 0, 0, 0}));
}

TEST(Scan, RepeatsTheLastValidOutputOverPadding) {
  RunningSum cell;
  const auto result =
      scan(cell, three_rows(), {.seq_lengths = tensor({4, 2, 0}), .padding_output = PaddingOutput::repeat_last});
  EXPECT_EQ(elements(result.y), (Doubles{1, 3, 6, 10, 5, 11, 11, 11, 0, 0, 0, 0}));
}

// Expected numbers of the two cases: flax.nnx 0.12 at valid steps; behind them the padding, itself reversed, goes on.
TEST(Scan, ReversedGivesOutputsInReadingOrder) {
  RunningSum cell;
  const auto result = scan(cell, three_rows(), {.seq_lengths = tensor({4, 2, 1}), .reverse = true});
  EXPECT_EQ(elements(result.y), (Doubles{4, 7, 9, 10, 6, 11, 19, 26, 1, 2, 3, 4}));
  EXPECT_EQ(elements(result.carry.sum), (Doubles{10, 11, 1}));
}

TEST(Scan, ReversedKeepsTheOrderOfTheInputIfAsked) {
  RunningSum cell;
  const auto result = scan(cell, three_rows(), {.seq_lengths = tensor({4, 2, 1}), .reverse = true, .keep_order = true});
  EXPECT_EQ(elements(result.y), (Doubles{10, 9, 7, 4, 11, 6, 26, 19, 1, 4, 3, 2}));
  EXPECT_EQ(elements(result.carry.sum), (Doubles{10, 11, 1}));
}

TEST(Scan, KeepOrderDoesNothingForward) {
  RunningSum cell;
  EXPECT_EQ(elements(scan(cell, three_rows(), {.keep_order = true}).y), elements(scan(cell, three_rows()).y));
}

TEST(Scan, TakesSeveralBatchAxes) {
  RunningSum cell;
  const Tensor x = arange(16).reshape({2, 2, 4, 1}).astype(DType::float32);
  const auto result = scan(cell, x, {.seq_lengths = tensor({4, 3, 1, 2}, {2, 2})});
  EXPECT_EQ(result.carry.sum.shape(), (Shape{2, 2, 1}));
  EXPECT_EQ(elements(result.carry.sum), (Doubles{6, 15, 8, 25}));                                     // by hand
  EXPECT_EQ(elements(result.y), (Doubles{0, 1, 3, 6, 4, 9, 15, 22, 8, 17, 27, 38, 12, 25, 39, 54}));  // flax.nnx 0.12
}

TEST(Scan, TakesAnUnbatchedSequence) {
  RunningSum cell;
  const auto result = scan(cell, tensor({1.0f, 2.0f, 3.0f}, {3, 1}), {.seq_lengths = scalar(2)});
  EXPECT_EQ(result.y.shape(), (Shape{3, 1}));
  EXPECT_EQ(elements(result.carry.sum), Doubles{3});
}

TEST(Scan, TakesTimeFirst) {
  RunningSum cell;
  const Tensor x = move_axis(three_rows(), 1, 0);
  const auto result = scan(cell, x, {.seq_lengths = tensor({4, 2, 0}), .time_major = true});
  EXPECT_EQ(result.y.shape(), (Shape{4, 3, 1}));
  EXPECT_EQ(elements(result.carry.sum), (Doubles{10, 11, 0}));
  EXPECT_TRUE(identical(move_axis(result.y, 0, 1), scan(cell, three_rows()).y));
}

TEST(Scan, TakesSeveralFeatureAxesAndOutputsWithout) {
  RowSum cell;
  const Tensor x = ones({2, 3, 2, 2});
  const auto result = scan(cell, x, {.seq_lengths = tensor({1, 3}), .padding_output = PaddingOutput::zero});
  EXPECT_EQ(result.y.shape(), (Shape{2, 3}));
  EXPECT_EQ(elements(result.y), (Doubles{4, 0, 0, 4, 8, 12}));
  EXPECT_EQ(elements(result.carry.sum), (Doubles{4, 12}));
}

TEST(Scan, OfNoStepsGivesNoOutputsAndTheInitialCarry) {
  RunningSum cell;
  const auto result = scan(cell, zeros({2, 0, 3}),
                           {.seq_lengths = tensor({0, 0}), .initial_carry = RunningSum::Carry{full({2, 3}, 5)}});
  EXPECT_EQ(result.y.shape(), (Shape{2, 0, 3}));
  EXPECT_EQ(elements(result.carry.sum), (Doubles{5, 5, 5, 5, 5, 5}));
}

TEST(Scan, OfNoRowsGivesNoRows) {
  RunningSum cell;
  const auto result = scan(cell, zeros({0, 4, 3}), {.seq_lengths = zeros({0}, DType::int64)});
  EXPECT_EQ(result.y.shape(), (Shape{0, 4, 3}));
  EXPECT_EQ(result.carry.sum.shape(), (Shape{0, 3}));
}

TEST(Scan, CarriesNestedPartsAlong) {
  NestedCell cell;
  const NestedCell::Carry start{{zeros({3, 1})}, full({3, 1}, 9)};
  const auto result = scan(cell, three_rows(), {.seq_lengths = tensor({4, 2, 0}), .initial_carry = start});
  EXPECT_EQ(elements(result.carry.total.sum), (Doubles{10, 11, 0}));
  EXPECT_EQ(elements(result.carry.last), (Doubles{4, 6, 9}));
  EXPECT_EQ(result.y.shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(elements(result.y[0]), (Doubles{1, 9, 3, 1, 6, 2, 10, 3}));
}

TEST(Scan, WantsACarryForACellThatHasNone) {
  NestedCell cell;
  EXPECT_THAT([&] { (void)scan(cell, three_rows()); }, ThrowsMessage<ValueError>(HasSubstr("initial carry")));
}

// ---------------------------------------------------------------- errors

TEST(Scan, RefusesLengthsOutOfRange) {
  RunningSum cell;
  const auto with = [&](const Tensor& lengths) {
    return [&cell, lengths] { (void)scan(cell, three_rows(), {.seq_lengths = lengths}); };
  };
  EXPECT_THAT(with(tensor({5, 2, 1})), ThrowsMessage<ValueError>(AllOf(HasSubstr("5"), HasSubstr("4"))));
  EXPECT_THAT(with(tensor({4, -1, 1})), ThrowsMessage<ValueError>(HasSubstr("-1")));
}

TEST(Scan, RefusesLengthsOfAnotherShapeOrType) {
  RunningSum cell;
  const auto with = [&](const Tensor& lengths) {
    return [&cell, lengths] { (void)scan(cell, three_rows(), {.seq_lengths = lengths}); };
  };
  EXPECT_THAT(with(tensor({4, 2})), ThrowsMessage<ShapeError>(AllOf(HasSubstr("2"), HasSubstr("3"))));
  EXPECT_THAT(with(tensor({4})), ThrowsMessage<ShapeError>(HasSubstr("[1]")));
  EXPECT_THAT(with(tensor({4, 2, 1}, {3, 1})), ThrowsMessage<ShapeError>(HasSubstr("[3, 1]")));
  EXPECT_THAT(with(tensor({4.0f, 2.0f, 1.0f})), ThrowsMessage<DTypeError>(HasSubstr("float32")));
  EXPECT_THAT(with(tensor({true, true, true})), ThrowsMessage<DTypeError>(HasSubstr("bool")));
}

TEST(Scan, NamesThePartOfACarryThatDoesNotFit) {
  RunningSum cell;
  const auto with = [&](const Tensor& sum) {
    return [&cell, sum] { (void)scan(cell, three_rows(), {.initial_carry = RunningSum::Carry{sum}}); };
  };
  EXPECT_THAT(with(zeros({1, 1})),
              ThrowsMessage<ShapeError>(AllOf(HasSubstr("`sum`"), HasSubstr("[1, 1]"), HasSubstr("[3, 1]"))));
  EXPECT_THAT(with(zeros({3, 2})), ThrowsMessage<ShapeError>(HasSubstr("`sum`")));
  EXPECT_THAT(with(zeros({3, 1}, DType::float64)),
              ThrowsMessage<DTypeError>(AllOf(HasSubstr("`sum`"), HasSubstr("float64"), HasSubstr("float32"))));
}

TEST(Scan, RefusesInputsWithoutTimeAxis) {
  RunningSum cell;
  EXPECT_THAT([&] { (void)scan(cell, zeros({3})); }, ThrowsMessage<ShapeError>(HasSubstr("time axis")));
  EXPECT_THROW((void)scan(cell, scalar(1.0f)), ShapeError);
  RowSum two_axes;
  EXPECT_THAT([&] { (void)scan(two_axes, zeros({3, 4})); }, ThrowsMessage<ShapeError>(HasSubstr("2 feature axes")));
}

struct CountingCell {
  using Carry = RunningSum::Carry;
  static constexpr int num_feature_axes = 1;
  int calls = 0;
  Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    ++calls;
    return {carry, x};
  }
  Carry initial_carry(const Shape& input) const { return {zeros(input)}; }
  STRATA_FIELDS(calls)
};

TEST(Scan, ThrowsBeforeTheCellIsRun) {
  CountingCell cell;
  EXPECT_THROW((void)scan(cell, three_rows(), {.seq_lengths = tensor({4, 2, 5})}), ValueError);
  EXPECT_THROW((void)scan(cell, three_rows(), {.initial_carry = CountingCell::Carry{zeros({2})}}), ShapeError);
  EXPECT_EQ(cell.calls, 0);
}

TEST(Scan, RunsACellThatChangesItselfOncePerStep) {
  CountingCell cell;
  (void)scan(cell, three_rows(), {.seq_lengths = tensor({4, 2, 0})});
  EXPECT_EQ(cell.calls, 4);
  (void)scan(cell, zeros({3, 0, 1}));
  EXPECT_EQ(cell.calls, 4);
}

// Makes of its carry and output what it is told.
struct BadCell {
  using Carry = RunningSum::Carry;
  static constexpr int num_feature_axes = 1;
  Tensor carry;
  Tensor y;
  Step<Carry> operator()(const Carry&, const Tensor&) const { return {{carry}, y}; }
  Carry initial_carry(const Shape& input) const { return {zeros(input)}; }
};

TEST(Scan, RefusesACarryThatChangesItsShapeOrType) {
  BadCell wider{zeros({3, 2}), zeros({3, 1})};
  EXPECT_THAT([&] { (void)scan(wider, three_rows()); },
              ThrowsMessage<ShapeError>("[scan] part `sum` of the carry that the cell returned is float32[3, 2], "
                                        "expected float32[3, 1]."));
  BadCell promoted{zeros({3, 1}, DType::float64), zeros({3, 1})};
  EXPECT_THAT([&] { (void)scan(promoted, three_rows()); },
              ThrowsMessage<DTypeError>(AllOf(HasSubstr("`sum`"), HasSubstr("float64"))));
}

TEST(Scan, RefusesAnOutputWithoutTheBatchAxes) {
  BadCell cell{zeros({3, 1}), scalar(1.0f)};
  EXPECT_THAT([&] { (void)scan(cell, three_rows()); }, ThrowsMessage<ShapeError>(HasSubstr("output")));
}

// ---------------------------------------------------------------- padding and gradients

TEST(Scan, HasGradientsThroughUsersCells) {
  const Tensor x = random::normal(random::key(2), {3, 4, 2}, DType::float64);
  const Tensor start = random::normal(random::key(3), {3, 2}, DType::float64);
  const auto f = [](const Tensor& input, const Tensor& sum) {
    NestedCell nested;
    const NestedCell::Carry carry{{sum}, sum};
    const auto result = scan(nested, input * input, {.seq_lengths = tensor({4, 2, 0}), .initial_carry = carry});
    return concatenate({result.y.reshape({-1}), result.carry.total.sum.reshape({-1}), result.carry.last.reshape({-1})},
                       0);
  };
  support::expect_gradients_match(f, x, start);
}

TEST(Scan, OfLengthZeroPassesTheCarrysGradientOn) {
  RunningSum cell;
  GradientTape tape;
  const Tensor start = tape.watch(full({3, 1}, 2));
  const auto result =
      scan(cell, three_rows(), {.seq_lengths = tensor({4, 2, 0}), .initial_carry = RunningSum::Carry{start}});
  EXPECT_EQ(elements(tape.gradient(sum(result.carry.sum * result.carry.sum), {start})[0]),
            (Doubles{24, 26, 4}));  // 2 * carry
}

template <class C>
void expect_padding_harmless(const C& cell, double poison) {
  const std::vector<Index> lengths{4, 2, 0};
  const Tensor x = random::normal(random::key(5), {3, 4, 3});
  const Tensor weights = with_padding(ones({3, 4, 1}), lengths, 0);
  for (const bool reverse : {false, true}) {
    const ScanOptions<typename C::Carry> options{.seq_lengths = tensor(lengths, {3}), .reverse = reverse};
    const auto run = [](C& c, const Tensor& input, const ScanOptions<typename C::Carry>& o) {
      return scan(c, input, o);
    };
    const auto clean = scan_with_gradients(cell, with_padding(x, lengths, 0), options, run, weights);
    const auto dirty = scan_with_gradients(cell, with_padding(x, lengths, poison), options, run, weights);
    ASSERT_EQ(clean.size(), dirty.size());
    EXPECT_EQ(difference(where(weights, dirty[0].value, 0), where(weights, clean[0].value, 0), exactly), "");
    for (std::size_t i = 1; i < clean.size(); ++i) {
      EXPECT_EQ(difference(dirty[i].value, clean[i].value, exactly), "") << clean[i].name;
      EXPECT_TRUE(all(is_finite(dirty[i].value)).template item<bool>()) << clean[i].name;
    }
  }
}

TEST(Scan, LetsNothingInvalidOutOfPadding) {
  Rngs rngs(0);
  const StatefulCell stateful(3, rngs);
  const LSTMCell lstm(3, 2, rngs);
  const OptimizedLSTMCell optimized(3, 2, rngs);
  const GRUCell gru(3, 2, rngs);
  const GRUCell reset_before(3, 2, rngs, {.form = GRUForm::reset_before});
  const SimpleCell simple(3, 2, rngs);
  for (const double poison : {static_cast<double>(nan), std::numeric_limits<double>::infinity(), 3e38}) {
    expect_padding_harmless(lstm, poison);
    expect_padding_harmless(optimized, poison);
    expect_padding_harmless(gru, poison);
    expect_padding_harmless(reset_before, poison);
    expect_padding_harmless(simple, poison);
    expect_padding_harmless(RunningSum{}, poison);
    expect_padding_harmless(stateful, poison);
  }
}

// A loss on row 1's padding, while the padding of row 2 holds `poison`.
template <class C>
void expect_rows_apart(const C& cell, double poison) {
  const std::vector<Index> lengths{4, 2, 1};
  const Tensor x = random::normal(random::key(5), {3, 4, 3});
  const Tensor weights = tensor<float>({1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0}, {3, 4, 1});
  for (const bool reverse : {false, true}) {
    const ScanOptions<typename C::Carry> options{.seq_lengths = tensor(lengths, {3}), .reverse = reverse};
    const auto run = [](C& c, const Tensor& input, const ScanOptions<typename C::Carry>& o) {
      return scan(c, input, o);
    };
    const auto clean = scan_with_gradients(cell, with_padding(x, {4, 4, 1}, 0), options, run, weights);
    const auto dirty = scan_with_gradients(cell, with_padding(x, {4, 4, 1}, poison), options, run, weights);
    for (std::size_t i = 1; i < clean.size(); ++i) {
      EXPECT_EQ(difference(dirty[i].value, clean[i].value, exactly), "") << clean[i].name;
      EXPECT_TRUE(all(is_finite(dirty[i].value)).template item<bool>()) << clean[i].name;
    }
    const auto y = dirty[0].value.slice(0, 2);
    EXPECT_EQ(difference(y, clean[0].value.slice(0, 2), exactly), "");
  }
}

TEST(Scan, KeepsInvalidPaddingOfOneRowFromALossOnThePaddingOfAnother) {
  Rngs rngs(0);
  const LSTMCell fused(3, 2, rngs);
  const GRUCell reset_before(3, 2, rngs, {.form = GRUForm::reset_before});
  const LSTMCell with_relu(3, 2, rngs, {.activation = relu});
  for (const double poison : {static_cast<double>(nan), std::numeric_limits<double>::infinity(), 3e38}) {
    expect_rows_apart(fused, poison);
    expect_rows_apart(reset_before, poison);
    expect_rows_apart(with_relu, poison);
    expect_rows_apart(RunningSum{}, poison);
  }
}

TEST(Scan, LetsInvalidPaddingReachALossThatLooksAtIt) {
  Rngs rngs(0);
  GRUCell fused(2, 2, rngs);
  GRUCell by_steps(2, 2, rngs, {.form = GRUForm::reset_before});
  for (GRUCell* cell : {&fused, &by_steps}) {
    GradientTape tape;
    const Tensor x = tape.watch(with_padding(ones({2, 3, 2}), {3, 1}, nan));
    const Tensor y = scan(*cell, x, {.seq_lengths = tensor({3, 1})}).y;
    EXPECT_FALSE(all(is_finite(y[1])).item<bool>());
    EXPECT_FALSE(all(is_finite(tape.gradient(sum(y), {x})[0][1])).item<bool>());
  }
}

TEST(Scan, AgreesWithTheFusedOperationOverThousandsOfSteps) {
  Rngs rngs(0);
  const SimpleCell cell(2, 3, rngs);
  const Tensor x = random::normal(random::key(5), {1, 3000, 2});
  const auto fused =
      scan_with_gradients(cell, x, {}, [](auto& c, const Tensor& input, const auto& o) { return scan(c, input, o); });
  const auto by_steps = scan_with_gradients(
      cell, x, {}, [](auto& c, const Tensor& input, const auto& o) { return internal::scan_by_steps(c, input, o); });
  for (std::size_t i = 0; i < fused.size(); ++i) {
    EXPECT_EQ(difference(by_steps[i].value, fused[i].value, support::within_scaled(1e-4)), "") << fused[i].name;
  }
}

TEST(Scan, GivesPaddingsGradientOnlyToALossThatLooksAtIt) {
  Rngs rngs(0);
  GRUCell fused(2, 2, rngs);
  GRUCell by_steps(2, 2, rngs, {.form = GRUForm::reset_before});
  for (GRUCell* cell : {&fused, &by_steps}) {
    GradientTape tape;
    const Tensor x = tape.watch(ones({2, 3, 2}));
    const Tensor y = scan(*cell, x, {.seq_lengths = tensor({3, 1})}).y;
    const Doubles dx = elements(tape.gradient(sum(y[1]), {x})[0]);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(dx[i], 0);
    for (std::size_t i = 6; i < 12; ++i) EXPECT_NE(dx[i], 0);
  }
}

TEST(Scan, KeepsPaddingOutOfACellsStatistics) {
  Rngs rngs(0);
  StatefulCell cell(3, rngs);
  const Tensor x = with_padding(ones({2, 4, 3}), {4, 1}, nan);
  (void)scan(cell, x, {.seq_lengths = tensor({4, 1})});
  EXPECT_TRUE(all(is_finite(cell.norm.mean.value())).item<bool>());
  EXPECT_TRUE(all(is_finite(cell.norm.var.value())).item<bool>());
}

TEST(Scan, UpdatesACellsStatisticsStepByStep) {
  Rngs rngs(0);
  StatefulCell cell(1, rngs);
  cell.map->kernel.set_value(ones({1, 1}));
  (void)scan(cell, tensor<float>({2, 4, 2, 4}, {2, 2, 1}));  // both steps have the batch mean (2 + 2) / 2, (4 + 4) / 2
  EXPECT_EQ(elements(cell.norm.mean), Doubles{0.5 * (0.5 * 2) + 0.5 * 4});
}

TEST(Scan, DrawsFreshDropoutInEveryStep) {
  Rngs rngs(0);
  StatefulCell cell(64, rngs);
  const auto count = [&] { return cell.dropout.rngs->count.value().item<std::uint32_t>(); };
  const auto before = count();
  (void)scan(cell, ones({2, 3, 64}), {.seq_lengths = tensor({3, 1})});
  EXPECT_EQ(count() - before, 3U);
}

TEST(Scan, FindsParametersHeldByAPointer) {
  Rngs rngs(0);
  StatefulCell cell(2, rngs);
  nn::eval(cell);
  const auto run = [](StatefulCell& c, const Tensor& x, const ScanOptions<StatefulCell::Carry>& o) {
    return scan(c, x, o);
  };
  const auto results = scan_with_gradients(cell, random::normal(random::key(1), {2, 3, 2}), {}, run);
  const auto found =
      std::find_if(results.begin(), results.end(), [](const auto& r) { return r.name == "d map/kernel"; });
  ASSERT_NE(found, results.end());
  EXPECT_TRUE(any(found->value).item<bool>());
}

TEST(Scan, RefusesACellWhoseParameterWasReplacedByOneOfAnotherShape) {
  Rngs rngs(0);
  for (const Shape& shape : {Shape{1, 4}, Shape{9, 9}, Shape{4}, Shape{}}) {
    LSTMCell cell{3, 4, rngs};
    cell.hf.kernel.reset(zeros(shape));
    EXPECT_THROW(static_cast<void>(scan(cell, ones({2, 5, 3}))), ShapeError);
  }
  GRUCell cell{3, 4, rngs};
  cell.dense_i.bias->reset(zeros({1}));
  EXPECT_THROW(static_cast<void>(scan(cell, ones({2, 5, 3}))), ShapeError);
}

// ---------------------------------------------------------------- frozen weights

// Gradients of sum(y) with respect to the variables at `paths`; the others are frozen.
template <class C>
State gradients_of(C cell, const std::vector<Path>& paths, std::optional<Index> checkpoint_every) {
  GradientTape tape;
  State state = nn::state(cell);
  std::vector<Tensor> sources;
  for (const Path& path : paths) {
    sources.push_back(tape.watch(state.at(path).value()));
    state.at(path).reset(sources.back());
  }
  nn::update(cell, state);
  const Tensor x = random::normal(random::key(1), {3, 5, 2});
  const Tensor loss = sum(scan(cell, x, {.checkpoint_every = checkpoint_every}).y);
  const std::vector<Tensor> gradients = tape.gradient(loss, sources);
  State result;
  for (std::size_t i = 0; i < paths.size(); ++i) result.set(paths[i], Param(gradients[i]));
  return result;
}

template <class C>
void expect_same_gradient_of_each_alone(const C& cell) {
  std::vector<Path> paths;
  for (const auto& [path, variable] : nn::state(cell)) paths.push_back(path);
  for (const std::optional<Index> every : {std::optional<Index>(), std::optional<Index>(2)}) {
    const State all = gradients_of(cell, paths, every);
    for (const Path& path : paths) {
      EXPECT_TRUE(identical(gradients_of(cell, {path}, every).at(path).value(), all.at(path).value()))
          << to_string(path);
    }
  }
}

TEST(Scan, GivesAWeightItsGradientWhereTheOthersAreFrozen) {
  Rngs rngs(0);
  expect_same_gradient_of_each_alone(LSTMCell(2, 9, rngs));
  expect_same_gradient_of_each_alone(OptimizedLSTMCell(2, 9, rngs));
  expect_same_gradient_of_each_alone(GRUCell(2, 9, rngs, {.recurrent_bias = true}));
  expect_same_gradient_of_each_alone(SimpleCell(2, 9, rngs));
}

}  // namespace
}  // namespace strata::recurrent
