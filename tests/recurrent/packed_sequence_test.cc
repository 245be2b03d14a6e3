// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/packed_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "recurrent/scan_problem.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/mgu_cell.h"
#include "strata/tensor/error.h"

namespace strata::recurrent {
namespace {

using support::difference;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;

// ---------------------------------------------------------------- the type

TEST(PackedSequence, HoldsRealStepsOneSequenceBehindTheOther) {
  const auto packed = PackedSequence::from_padded(three_rows(), tensor({2, 0, 3}));
  EXPECT_EQ(elements(packed.data()), (Doubles{1, 2, 1, 1, 1}));
  EXPECT_EQ(packed.data().shape(), (Shape{5, 1}));
  EXPECT_EQ(elements(packed.lengths()), (Doubles{2, 0, 3}));
  EXPECT_EQ(packed.total_steps(), 5);
  EXPECT_EQ(packed.max_length(), 3);
}

TEST(PackedSequence, TakesTimeFirst) {
  const auto packed = PackedSequence::from_padded(move_axis(three_rows(), 1, 0), tensor({1, 4, 0}), true);
  EXPECT_EQ(elements(packed.data()), (Doubles{1, 5, 6, 7, 8}));
}

TEST(PackedSequence, TakesAList) {
  const std::vector<Tensor> list{tensor({1.0F, 2.0F}, {2, 1}), zeros({0, 1}), tensor({3.0F}, {1, 1})};
  const auto packed = PackedSequence::from_list(list);
  EXPECT_EQ(elements(packed.data()), (Doubles{1, 2, 3}));
  EXPECT_EQ(elements(packed.lengths()), (Doubles{2, 0, 1}));
}

TEST(PackedSequence, GivesBackAList) {
  const std::vector<Tensor> list = PackedSequence(tensor({1.0F, 2.0F, 3.0F}, {3, 1}), tensor({2, 0, 1}, {3, 1})).list();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(elements(list[0]), (Doubles{1, 2}));
  EXPECT_EQ(list[1].shape(), (Shape{0, 1}));
  EXPECT_EQ(elements(list[2]), (Doubles{3}));
}

TEST(PackedSequence, IsPaddedAsAsked) {
  const PackedSequence packed(tensor({1.0F, 2.0F, 3.0F}, {3, 1}), tensor({1, 2}));
  EXPECT_EQ(elements(packed.padded()), (Doubles{1, 0, 2, 3}));
  const Tensor wide = packed.padded({.value = 7, .time = 3, .time_major = true});
  EXPECT_EQ(wide.shape(), (Shape{3, 2, 1}));
  EXPECT_EQ(elements(wide), (Doubles{1, 2, 7, 3, 7, 7}));
}

TEST(PackedSequence, RefusesLengthsThatDoNotFit) {
  EXPECT_THAT([] { PackedSequence(ones({3, 1}), tensor({2, 2})); }, ThrowsMessage<ValueError>(HasSubstr("3 steps")));
  EXPECT_THAT([] { PackedSequence(ones({3, 1}), tensor({4, -1})); }, ThrowsMessage<ValueError>(HasSubstr("-1")));
  EXPECT_THROW(PackedSequence(ones({3, 1}), tensor({4, 0})), ValueError);
  EXPECT_THROW(PackedSequence(ones({3, 1}), tensor({1, 1})), ValueError);
  EXPECT_THROW(PackedSequence(ones({3, 1}), tensor({3.0F})), DTypeError);
  EXPECT_THROW(PackedSequence(scalar(1.0F), tensor({1})), ShapeError);
  EXPECT_THROW(PackedSequence(ones({0, 1}), tensor<std::int64_t>({INT64_MAX, INT64_MAX, 2})), ValueError);
  // Taken for -1 and 4, they would add up.
  EXPECT_THAT(
      [] {
        PackedSequence(ones({3, 1}), tensor<std::uint64_t>({UINT64_MAX, 4}));
      },
      ThrowsMessage<ValueError>(HasSubstr("3 steps, which is not the sum of the lengths")));
  EXPECT_THROW((void)PackedSequence::from_padded(three_rows(), tensor({5, 1, 1})), ValueError);
  EXPECT_THROW((void)PackedSequence::from_padded(three_rows(), tensor({1, 1})), ShapeError);
  EXPECT_THROW((void)PackedSequence::from_padded(ones({3}), tensor({1, 1, 1})), ShapeError);
  EXPECT_THROW((void)PackedSequence::from_list({}), ValueError);
}

TEST(PackedSequence, RefusesDataAndTimeThatDoNotFit) {
  const PackedSequence packed(ones({3, 1}), tensor({1, 2}));
  EXPECT_THAT([&] { (void)packed.map([](const Tensor& x) { return sum(x, {0}); }); },
              ThrowsMessage<ShapeError>(HasSubstr("3 steps")));
  EXPECT_THROW((void)packed.padded({.time = 1}), ValueError);
}

// Places that cannot be counted, and places that there is no memory for.
TEST(PackedSequence, RefusesPaddingWithoutEnd) {
  const PackedSequence packed(zeros({4, 2}), tensor({1, 1, 1, 1}));
  EXPECT_THROW((void)packed.padded({.time = Index{1} << 62}), ShapeError);
  EXPECT_THROW((void)packed.padded({.time = Index{1} << 58}), ShapeError);
}

TEST(PackedSequence, TakesFunctionsOfSteps) {
  const PackedSequence packed(tensor({1.0F, 2.0F, 3.0F}, {3, 1}), tensor({1, 2}));
  const PackedSequence doubled = packed.map([](const Tensor& x) { return concatenate({x, x}, -1); });
  EXPECT_EQ(elements(doubled.padded()), (Doubles{1, 1, 0, 0, 2, 2, 3, 3}));
}

RC_GTEST_PROP(PackedSequenceProperty, ComesBackFromPaddingAndFromAList, ()) {
  Problem problem = any_problem();
  if (!problem.lengths) problem.lengths = full(problem.batch, problem.time, DType::int64);
  const auto packed = PackedSequence::from_padded(problem.x(), *problem.lengths, problem.time_major);
  const Tensor padded = packed.padded({.time = problem.time, .time_major = problem.time_major});
  const auto again = PackedSequence::from_padded(padded, *problem.lengths, problem.time_major);
  RC_ASSERT(identical(again.data(), packed.data()));
  RC_ASSERT(identical(again.lengths(), packed.lengths()));
  const std::vector<Tensor> list = packed.list();
  if (!list.empty()) RC_ASSERT(identical(PackedSequence::from_list(list).data(), packed.data()));
}

TEST(PackedSequence, PassesGradientsThroughConversions) {
  GradientTape tape;
  const Tensor x = tape.watch(with_padding(three_rows(), {2, 0, 3}, nan));
  const auto packed = PackedSequence::from_padded(x, tensor({2, 0, 3}));
  const std::vector<Tensor> list = packed.list();
  const Tensor loss = sum(packed.padded() * 2) + sum(list[0] * list[0]);
  EXPECT_EQ(elements(tape.gradient(loss, {x})[0]), (Doubles{4, 6, 0, 0, 0, 0, 0, 0, 2, 2, 2, 0}));
}

// ---------------------------------------------------------------- scans

// A scan of the packed sequence, seen as one of the padded one.
const auto packed_scan = [](auto& cell, const Tensor& x, auto options) {
  const auto packed = PackedSequence::from_padded(x, *options.seq_lengths, *options.time_major);
  if (options.resets) {
    options.resets = PackedSequence::from_padded(*options.resets, *options.seq_lengths, *options.time_major).data();
  }
  const Index time = x.size(*options.time_major ? 0 : options.seq_lengths->rank());
  options.seq_lengths.reset();
  auto [carry, y] = scan(cell, packed, options);
  return ScanResult<decltype(carry)>{std::move(carry), y.padded({.time = time, .time_major = *options.time_major})};
};
const auto padded_scan = [](auto& cell, const Tensor& x, const auto& options) { return scan(cell, x, options); };

Problem any_ragged() {
  Problem problem = any_problem();
  const auto count = static_cast<std::size_t>(problem.batch.num_elements());
  const auto numbers = *rc::gen::container<std::vector<Index>>(count, rc::gen::inRange<Index>(0, problem.time + 1));
  problem.lengths = tensor(numbers, problem.batch);
  problem.padding_output = PaddingOutput::zero;
  return *rc::gen::arbitrary<bool>() ? with_resets(problem) : problem;
}

RC_GTEST_PROP(PackedScanProperty, HasTheBitsOfThePaddedScan, ()) {
  const Problem problem = any_ragged();
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&](const auto& cell) {
    const auto options = problem.options(cell);
    assert_agreement(scan_with_gradients(cell, problem.x(), options, packed_scan),
                     scan_with_gradients(cell, problem.x(), options, padded_scan));
  });
}

RC_GTEST_PROP(PackedScanProperty, IsTheSameStepByStep, ()) {
  const Problem problem = any_ragged();
  Rngs rngs(3);
  const MGUCell cell(problem.in, problem.hidden, rngs, {.param_dtype = problem.dtype});
  const auto options = problem.options(cell);
  assert_agreement(scan_with_gradients(cell, problem.x(), options, packed_scan),
                   scan_with_gradients(cell, problem.x(), options, padded_scan), problem.dtype);
}

RC_GTEST_PROP(PackedScanProperty, OfAPermutedBatchIsPermuted, ()) {
  Problem problem = any_batch();
  const Tensor order = random::permutation(random::key(*rc::gen::inRange(0, 1000)), problem.batch[0]);
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&]<class C>(C cell) {
    auto options = problem.options(cell);
    options.padding_output = PaddingOutput::zero;
    auto permuted = options;
    permuted.seq_lengths = take(*options.seq_lengths, order, 0);
    if (options.initial_carry) permuted.initial_carry = take_rows(*options.initial_carry, order);
    const auto whole = packed_scan(cell, problem.x(), options);
    assert_same(packed_scan(cell, take(problem.x(), order, 0), permuted),
                ScanResult<typename C::Carry>{take_rows(whole.carry, order), take(whole.y, order, 0)});
  });
}

TEST(PackedScan, GivesTheHeadTheStepsItself) {
  Rngs rngs(0);
  RNN rnn(LSTMCell(1, 3, rngs), {.time_major = true, .padding_output = PaddingOutput::repeat_last});
  nn::Linear head(3, 2, rngs);
  const PackedSequence y = rnn(PackedSequence::from_padded(three_rows(), tensor({2, 0, 3})));
  EXPECT_EQ(head(y.data()).shape(), (Shape{5, 2}));
}

TEST(PackedScan, OfALayerUsesItsOrder) {
  RNN<RunningSum> rnn(RunningSum{}, {.reverse = true, .keep_order = true});
  const PackedSequence x(tensor({1.0F, 2.0F, 4.0F}, {3, 1}), tensor({1, 2}));
  EXPECT_EQ(elements(rnn(x).data()), (Doubles{1, 6, 4}));
  EXPECT_EQ(elements(rnn(x, {.keep_order = false}).data()), (Doubles{1, 4, 6}));
}

TEST(PackedScan, RunsBothDirectionsAndStacks) {
  Rngs rngs(0);
  Bidirectional<LSTMCell> first(LSTMCell(1, 3, rngs), LSTMCell(1, 3, rngs));
  Bidirectional<MGUCell> second(MGUCell(6, 2, rngs), MGUCell(6, 2, rngs));
  const Tensor lengths = tensor({2, 0, 3});
  const auto packed = second.scan(first(PackedSequence::from_padded(three_rows(), lengths)));
  const auto padded = second.scan(first(three_rows(), {.seq_lengths = lengths}),
                                  {.seq_lengths = lengths, .padding_output = PaddingOutput::zero});
  EXPECT_EQ(difference(packed.y.padded({.time = 4}), padded.y, support::within_scaled(2e-6)), "");
  EXPECT_EQ(difference(packed.carry.backward.h, padded.carry.backward.h, support::within_scaled(2e-6)), "");
}

TEST(PackedScan, CarriesNestedPartsAlong) {
  NestedCell cell;
  const NestedCell::Carry carry{{tensor({10.0F, 20.0F}, {2, 1})}, tensor({1.0F, 2.0F}, {2, 1})};
  const auto result =
      scan(cell, PackedSequence(tensor({3.0F, 4.0F, 5.0F}, {3, 1}), tensor({1, 2})), {.initial_carry = carry});
  EXPECT_EQ(elements(result.carry.total.sum), (Doubles{13, 29}));
  EXPECT_EQ(elements(result.carry.last), (Doubles{3, 5}));
  EXPECT_EQ(elements(result.y.data()), (Doubles{13, 1, 24, 2, 29, 4}));
}

// Counts the rows that it was run on.
struct CountingCell {
  using Carry = RunningSum::Carry;
  static constexpr int num_feature_axes = 1;
  Index rows = 0;

  Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    rows += x.size(0);
    return RunningSum()(carry, x);
  }
  Carry initial_carry(const Shape& input) const { return {zeros(input)}; }

  STRATA_FIELDS(rows)
};

TEST(PackedScan, RunsAnyCellOnRealStepsAlone) {
  CountingCell cell;
  (void)scan(cell, PackedSequence::from_padded(three_rows(), tensor({1, 4, 0})));
  EXPECT_EQ(cell.rows, 5);
}

TEST(PackedScan, OfNothingGivesNothing) {
  Rngs rngs(0);
  LSTMCell fused(2, 3, rngs);
  MGUCell stepped(2, 3, rngs);
  for (const Tensor& lengths : {tensor({0, 0}), zeros({0}, DType::int64)}) {
    const PackedSequence x(zeros({0, 2}), lengths);
    const auto [carry, y] = scan(fused, x);
    EXPECT_EQ(y.data().shape(), (Shape{0, 3}));
    EXPECT_EQ(carry.c.shape(), (Shape{lengths.size(), 3}));
    const auto [carry_of_steps, y_of_steps] = scan(stepped, x);
    EXPECT_EQ(y_of_steps.data().shape(), (Shape{0, 3}));
    EXPECT_EQ(carry_of_steps.h.shape(), (Shape{lengths.size(), 3}));
  }
}

TEST(PackedScan, RefusesWhatDoesNotFit) {
  RunningSum cell;
  const PackedSequence x(ones({3, 1}), tensor({1, 2}));
  EXPECT_THAT(
      [&] {
        (void)scan(cell, x, {.seq_lengths = tensor({1, 2})});
      },
      ThrowsMessage<ValueError>(HasSubstr("seq_lengths")));
  EXPECT_THAT(
      [&] {
        (void)scan(cell, x, {.initial_carry = RunningSum::Carry{zeros({3, 1})}});
      },
      ThrowsMessage<ShapeError>(HasSubstr("`sum`")));
  EXPECT_THROW((void)scan(cell, x, {.resets = zeros({2}, DType::boolean)}), ShapeError);
  EXPECT_THROW((void)scan(cell, PackedSequence(ones({3}), tensor({1, 2}))), ShapeError);
  NestedCell nested;
  const NestedCell::Carry carry{{zeros({2, 1})}, zeros({3, 1})};
  EXPECT_THAT([&] { (void)scan(nested, x, {.initial_carry = carry}); }, ThrowsMessage<ShapeError>(HasSubstr("`last`")));
}

}  // namespace
}  // namespace strata::recurrent
