// SPDX-License-Identifier: Apache-2.0

// Steps that do not run: the option `mask` of scans.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "recurrent/scan_problem.h"
#include "strata/recurrent/chunks.h"
#include "strata/recurrent/mgu_cell.h"
#include "strata/recurrent/stacked.h"
#include "strata/tensor/error.h"

// That a mask with holes does what it does in Keras: tests/golden_runners.
namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;
using Sums = ScanOptions<RunningSum::Carry>;

const auto plain_scan = [](auto& cell, const Tensor& x, const auto& options) { return scan(cell, x, options); };

// One row of six steps, of which those of 2, 8 and 16 run; the last one is padding.
Tensor one_row() { return tensor<float>({1, 2, 4, 8, 16, 32}, {1, 6, 1}); }
Tensor one_mask() { return tensor({false, true, false, true, true, false}, {1, 6}); }

Doubles outputs(const Tensor& x, Sums options) {
  RunningSum cell;
  return elements(scan(cell, x, options).y);
}

TEST(Mask, SkipsStepsWhichKeepTheCarryAndRepeatTheOutput) {
  RunningSum cell;
  const auto [carry, y] = scan(cell, one_row(), {.mask = one_mask()});
  EXPECT_EQ(elements(carry.sum), Doubles{26});
  EXPECT_EQ(elements(y), (Doubles{0, 2, 2, 10, 26, 58}));  // padding is computed, as with lengths
}

TEST(Mask, FillsTheOutputsOfSkippedStepsAsAsked) {
  const auto filled = [](PaddingOutput output) {
    return outputs(one_row(), {.mask = one_mask(), .padding_output = output});
  };
  EXPECT_EQ(filled(PaddingOutput::zero), (Doubles{0, 2, 0, 10, 26, 0}));
  EXPECT_EQ(filled(PaddingOutput::repeat_last), (Doubles{0, 2, 2, 10, 26, 26}));
}

TEST(Mask, InReverseRepeatsTheStepProcessedBefore) {
  Sums options{.mask = one_mask(), .reverse = true, .keep_order = true};
  EXPECT_EQ(outputs(one_row(), options), (Doubles{26, 26, 24, 24, 16, 58}));
  options.keep_order = false;
  EXPECT_EQ(outputs(one_row(), options), (Doubles{16, 24, 24, 26, 26, 58}));
}

TEST(Mask, BeginsAnEpisodeThatIsFlaggedAtASkippedStepWithTheNextThatRuns) {
  const Tensor x = tensor<float>({1, 2, 4, 8, 16, 32}, {6, 1});
  Sums options{.mask = tensor({true, true, false, false, true, true}),
               .initial_carry = RunningSum::Carry{full({1}, 100.0F)},
               .resets = tensor({false, false, true, false, false, false}),
               .reset_carry = RunningSum::Carry{full({1}, 200.0F)}};
  // Nothing of the second episode has run in its first two steps.
  EXPECT_EQ(outputs(x, options), (Doubles{101, 103, 0, 0, 216, 248}));
  options.reverse = true;
  options.keep_order = true;
  EXPECT_EQ(outputs(x, options), (Doubles{203, 202, 148, 148, 148, 132}));
  // A flag behind the last step that runs does nothing.
  options.mask = tensor({true, true, false, false, false, false});
  EXPECT_EQ(outputs(x, options), (Doubles{103, 102, 163, 159, 151, 135}));
}

TEST(Mask, HoldsForBothDirections) {
  Bidirectional<RunningSum> both(RunningSum{}, RunningSum{});
  const auto [carry, y] = both.scan(one_row(), {.mask = one_mask(), .padding_output = PaddingOutput::zero});
  EXPECT_EQ(elements(y), (Doubles{0, 0, 2, 26, 0, 0, 10, 24, 26, 16, 0, 0}));
  EXPECT_EQ(elements(carry.forward.sum), Doubles{26});
  EXPECT_EQ(elements(carry.backward.sum), Doubles{26});
}

TEST(Mask, HoldsForAllLayersOfAStack) {
  const auto run = [](bool residual, PaddingOutput output) {
    Stacked stack({RNN(RunningSum{}), RNN(RunningSum{})}, nn::Dropout(0), {.residual = residual});
    return elements(
        stack(tensor({1.0F, 2.0F, 4.0F}, {3, 1}), {.mask = tensor({true, false, true}), .padding_output = output}));
  };
  EXPECT_EQ(run(false, PaddingOutput::keep), (Doubles{1, 1, 6}));
  // By hand: the first layer gives 1 and 5 and, with its input, 2 and 9; the second 2 and 11, and 4 and 20.
  EXPECT_EQ(run(true, PaddingOutput::keep), (Doubles{4, 4, 20}));
  EXPECT_EQ(run(true, PaddingOutput::repeat_last), (Doubles{4, 4, 20}));
  EXPECT_EQ(run(true, PaddingOutput::zero), (Doubles{4, 0, 20}));
}

TEST(Mask, IsLaidOutAsXIs) {
  Rngs rngs(0);
  GRUCell cell(2, 3, rngs);
  const Tensor x = random::normal(random::key(1), {2, 3, 5, 2});
  const Tensor mask = random::uniform(random::key(2), {2, 3, 5}) < 0.6;
  const auto expected = scan(cell, x, {.mask = mask});
  const auto got = scan(cell, move_axis(x, 2, 0), {.mask = move_axis(mask, 2, 0), .time_major = true});
  EXPECT_EQ(difference(move_axis(got.y, 0, 2), expected.y, exactly), "");
  EXPECT_EQ(difference(got.carry.h, expected.carry.h, exactly), "");
}

TEST(Mask, MayBeFalseThroughout) {
  RunningSum cell;
  const Sums options{.mask = zeros({3, 4}, DType::boolean), .initial_carry = RunningSum::Carry{ones({3, 1})}};
  EXPECT_EQ(elements(scan(cell, three_rows(), options).carry.sum), (Doubles{1, 1, 1}));
  Sums filled = options;
  filled.padding_output = PaddingOutput::repeat_last;
  EXPECT_THAT(outputs(three_rows(), filled), testing::Each(0));
  // Beside a row with a hole.
  filled.mask = tensor({true, false, true, true, false, false, false, false, false, true, false, false}, {3, 4});
  EXPECT_EQ(outputs(three_rows(), filled), (Doubles{2, 2, 5, 9, 0, 0, 0, 0, 0, 2, 2, 2}));
}

TEST(Mask, TakesNoStepsAndNoRows) {
  Rngs rngs(0);
  const auto check = [](auto cell) {
    EXPECT_EQ(scan(cell, zeros({3, 0, 2}), {.mask = zeros({3, 0}, DType::boolean)}).y.shape(), (Shape{3, 0, 4}));
    EXPECT_EQ(scan(cell, zeros({0, 5, 2}), {.mask = zeros({0, 5}, DType::boolean)}).y.shape(), (Shape{0, 5, 4}));
  };
  check(LSTMCell(2, 4, rngs));
  check(MGUCell(2, 4, rngs));
}

TEST(Mask, IsRefusedBesideLengthsAndWhereItDoesNotFit) {
  Rngs rngs(0);
  Bidirectional both(GRUCell(2, 3, rngs), MGUCell(2, 3, rngs));
  const auto with = [&](const Tensor& mask, std::optional<Tensor> lengths = {}) {
    return [&both, mask, lengths] { (void)both(zeros({2, 4, 2}), {.seq_lengths = lengths, .mask = mask}); };
  };
  EXPECT_THAT(with(ones({2, 4}, DType::boolean), tensor({4, 4})),
              ThrowsMessage<ValueError>(AllOf(HasSubstr("`mask`"), HasSubstr("`seq_lengths`"))));
  EXPECT_THAT(with(ones({4, 2}, DType::boolean)),
              ThrowsMessage<ShapeError>(AllOf(HasSubstr("`mask`"), HasSubstr("[4, 2]"), HasSubstr("[2, 4]"))));
  EXPECT_THAT(with(ones({2, 4})), ThrowsMessage<DTypeError>(AllOf(HasSubstr("`mask`"), HasSubstr("bool"))));
  const PackedSequence packed(zeros({4, 2}), tensor({4}));
  EXPECT_THAT([&] { (void)both(packed, {.mask = ones({4}, DType::boolean)}); },
              ThrowsMessage<ValueError>(HasSubstr("mask")));
}

TEST(Mask, KeepsACellFromSeeingSkippedSteps) {
  Rngs rngs(0);
  StatefulCell masked(3, rngs);
  StatefulCell cut = nn::clone(masked);
  const Tensor x = random::normal(random::key(1), {4, 5, 3});
  const Tensor skipping = broadcast_to(tensor({true, false, true, true, true}), {4, 5});
  const Tensor y = scan(masked, x, {.mask = skipping}).y;
  const Tensor kept = tensor({0, 2, 3, 4});
  EXPECT_EQ(difference(take(y, kept, 1), scan(cut, take(x, kept, 1)).y, exactly), "");
  EXPECT_EQ(nn::state(masked), nn::state(cut));
}

TEST(Mask, KeepsNaNAtSkippedStepsToItself) {
  Rngs rngs(0);
  const Tensor x = random::normal(random::key(1), {2, 5, 2});
  const Tensor mask = tensor({true, false, false, true, false, false, true, false, true, true}, {2, 5});
  const Tensor holes = tensor({0, 1, 1, 0, 0, 1, 0, 1, 0, 0}, {2, 5, 1}).astype(DType::boolean);
  const auto check = [&](const auto& cell, PaddingOutput output) {
    const auto run = [&](const Tensor& given) {
      return scan_with_gradients(cell, given, {.mask = mask, .padding_output = output}, plain_scan);
    };
    const auto clean = run(where(holes, 0, x));
    const auto spoiled = run(where(holes, nan, x));
    for (std::size_t i = 0; i < clean.size(); ++i) {
      EXPECT_EQ(difference(spoiled[i].value, clean[i].value, exactly), "") << clean[i].name;
    }
  };
  for (const PaddingOutput output : {PaddingOutput::keep, PaddingOutput::zero, PaddingOutput::repeat_last}) {
    check(LSTMCell(2, 3, rngs), output);
    check(MGUCell(2, 3, rngs), output);
  }
}

TEST(Mask, OfAStackKeepsNaNToItselfBesideResiduals) {
  Rngs rngs(0);
  Stacked stack({RNN(GRUCell(2, 2, rngs)), RNN(GRUCell(2, 2, rngs))}, nn::Dropout(0.5, rngs), {.residual = true});
  const Tensor mask = tensor({true, false, true});
  GradientTape tape;
  const Tensor x = tape.watch(tensor<float>({1, 2, nan, nan, 3, 4}, {3, 2}));
  const Tensor y = stack(x, {.mask = mask});
  EXPECT_EQ(difference(y[1], y[0], exactly), "");
  const Tensor dx = tape.gradient(sum(y), {x})[0];
  EXPECT_THAT(elements(dx[1]), testing::Each(0));
  for (const double element : elements(dx)) EXPECT_TRUE(std::isfinite(element));
}

TEST(Mask, GoesOnFromChunkToChunk) {
  Rngs rngs(0);
  GRUCell cell(2, 3, rngs);
  const Tensor x = random::normal(random::key(1), {4, 11, 2});
  const Tensor mask = random::uniform(random::key(2), {4, 11}) < 0.5;
  const Tensor resets = random::uniform(random::key(3), {4, 11}) < 0.3;
  const HiddenCarry start{random::normal(random::key(4), {4, 3})};
  const HiddenCarry reset{random::normal(random::key(5), {4, 3})};
  const auto whole = scan(cell, x,
                          {.mask = mask,
                           .initial_carry = start,
                           .resets = resets,
                           .reset_carry = reset,
                           .padding_output = PaddingOutput::zero});
  HiddenCarry carry = start;
  std::vector<Tensor> y;
  for (const Chunk& chunk : chunks(x, 3, {.mask = mask, .resets = resets})) {
    auto result = scan(cell, chunk.x,
                       {.mask = chunk.mask,
                        .initial_carry = carry,
                        .resets = chunk.resets,
                        .reset_carry = reset,
                        .padding_output = PaddingOutput::zero});
    carry = result.carry;
    y.push_back(result.y);
  }
  EXPECT_EQ(difference(concatenate(y, 1), whole.y, exactly), "");
  EXPECT_EQ(difference(carry.h, whole.carry.h, exactly), "");
  EXPECT_THROW((void)chunks(x, 3, {.seq_lengths = tensor({1, 2, 3, 4}), .mask = mask}), ValueError);
}

// ---------------------------------------------------------------- properties

// A problem [batch, time, features] with a mask instead of lengths, sometimes with episodes.
struct MaskedProblem {
  Problem problem;
  Tensor mask;

  template <class C>
  [[nodiscard]] ScanOptions<typename C::Carry> options(const C& cell) const {
    auto result = problem.options(cell);
    result.mask = mask;
    return result;
  }
};

MaskedProblem any_masked() {
  Problem problem = any_batch();
  problem.time = *rc::gen::inRange<Index>(1, 9);
  if (*rc::gen::arbitrary<bool>()) problem = with_resets(problem);
  problem.lengths = std::nullopt;
  const auto seed = *rc::gen::inRange<std::int64_t>(0, 1000);
  const double share = *rc::gen::element(0.0, 0.3, 0.7, 0.95);
  const Tensor mask = random::uniform(random::key(seed), problem.batch.append({problem.time})) < share;
  return {problem, mask};
}

// The number of steps up to a row's last one that runs.
Index end_of(const Tensor& mask, Index row) {
  Index end = mask.size(1);
  while (end > 0 && !mask.at<bool>({row, end - 1})) --end;
  return end;
}

// Outputs of one row, of which y has those of the steps `times`: the others in the order of processing.
Tensor with_skipped(const Tensor& y, const std::vector<Index>& times, Index end, Index time,
                    const std::vector<bool>& begins, bool reverse, PaddingOutput output) {
  std::vector<Tensor> rows(static_cast<std::size_t>(time), zeros({y.size(1)}, y.dtype()));
  std::vector<bool> is_set(static_cast<std::size_t>(time), false);
  for (std::size_t i = 0; i < times.size(); ++i) {
    rows[static_cast<std::size_t>(times[i])] = y[static_cast<Index>(i)];
    is_set[static_cast<std::size_t>(times[i])] = true;
  }
  Tensor last = zeros({y.size(1)}, y.dtype());
  for (Index i = 0; i < end && output != PaddingOutput::zero; ++i) {
    const auto t = static_cast<std::size_t>(reverse ? end - 1 - i : i);
    if (begins[t] && !reverse) last = zeros_like(last);
    if (is_set[t]) last = rows[t];
    rows[t] = last;
    if (begins[t] && reverse) last = zeros_like(last);
  }
  return stack(rows, 0);
}

// Runs every row alone, without the steps that are skipped before its end, in the order of the input.
const auto rows_cut_out = []<class C>(C& cell, const Tensor& x, const ScanOptions<typename C::Carry>& options) {
  using Carry = typename C::Carry;
  const Tensor& mask = *options.mask;
  const Index time = x.size(1);
  const Carry initial = options.initial_carry.value_or(cell.initial_carry({x.size(0), x.size(2)}));
  const Carry reset = options.reset_carry.value_or(initial);
  Carry carry = initial;
  std::vector<Tensor> y;
  for (Index row = 0; row < x.size(0); ++row) {
    const Index end = end_of(mask, row);
    std::vector<Index> times;
    std::vector<bool> begins(static_cast<std::size_t>(time), false);
    Tensor flags = zeros({0}, DType::boolean);
    bool pending = false;
    Index length = 0;
    for (Index t = 0; t < time; ++t) {
      if (options.resets) begins[static_cast<std::size_t>(t)] = options.resets->template at<bool>({row, t});
      pending = pending || begins[static_cast<std::size_t>(t)];
      if (t < end && !mask.at<bool>({row, t})) continue;
      length += t < end ? 1 : 0;
      times.push_back(t);
      flags = concatenate({flags, full({1}, pending, DType::boolean)}, 0);
      pending = false;
    }
    const Tensor index = tensor({row});
    auto result = scan(cell, take(take(x, index, 0), tensor(times, {static_cast<Index>(times.size())}), 1),
                       {.seq_lengths = tensor({length}),
                        .initial_carry = take_rows(initial, index),
                        .resets = expand_dims(flags, 0),
                        .reset_carry = take_rows(reset, index),
                        .reverse = options.reverse,
                        .keep_order = true,
                        .padding_output = options.padding_output});
    y.push_back(with_skipped(result.y[0], times, end, time, begins, *options.reverse, *options.padding_output));
    internal::for_each_tensor(
        [&](const std::string&, Tensor& whole, const Tensor& part) {
          const Tensor before = whole.slice(0, row);
          whole = concatenate({before, part, whole.slice(row + 1, whole.size(0))}, 0);
        },
        "", carry, std::as_const(result.carry));
  }
  return ScanResult<Carry>{carry, stack(y, 0)};
};

template <class C>
void assert_rows_cut_out(const C& cell, const MaskedProblem& masked) {
  auto options = masked.options(cell);
  options.keep_order = true;
  const Tensor x = masked.problem.x();
  assert_agreement(scan_with_gradients(cell, x, options, plain_scan),
                   scan_with_gradients(cell, x, options, rows_cut_out), masked.problem.dtype);
}

RC_GTEST_PROP(MaskProperty, GivesWhatRowsGiveWithoutTheSkippedSteps, ()) {
  const MaskedProblem masked = any_masked();
  const Problem& problem = masked.problem;
  for_each_cell(problem.in, problem.hidden, problem.dtype,
                [&](const auto& cell) { assert_rows_cut_out(cell, masked); });
  Rngs rngs(3);
  assert_rows_cut_out(MGUCell(problem.in, problem.hidden, rngs, {.param_dtype = problem.dtype}), masked);
}

RC_GTEST_PROP(MaskProperty, ChangesNoBitOfAStandardCellsOutputs, ()) {
  MaskedProblem masked = any_masked();
  for_each_cell(masked.problem.in, masked.problem.hidden, masked.problem.dtype, [&](auto cell) {
    auto options = masked.options(cell);
    options.keep_order = true;
    assert_same(scan(cell, masked.problem.x(), options), rows_cut_out(cell, masked.problem.x(), options));
  });
}

RC_GTEST_PROP(MaskProperty, GivesOutputsInTheOrderOfProcessing, ()) {
  MaskedProblem masked = any_masked();
  std::vector<Index> ends;
  for (Index row = 0; row < masked.mask.size(0); ++row) ends.push_back(end_of(masked.mask, row));
  const Tensor lengths = tensor(ends, masked.problem.batch);
  for_each_cell(masked.problem.in, masked.problem.hidden, masked.problem.dtype, [&](auto cell) {
    auto options = masked.options(cell);
    options.reverse = true;
    options.keep_order = true;
    const Tensor in_order = scan(cell, masked.problem.x(), options).y;
    options.keep_order = false;
    RC_ASSERT(identical(scan(cell, masked.problem.x(), options).y, flip_sequences(in_order, lengths)));
  });
}

RC_GTEST_PROP(MaskProperty, WithoutHolesIsWhatLengthsAre, ()) {
  const Problem problem = *rc::gen::arbitrary<bool>() ? with_resets(any_batch()) : any_batch();
  const Tensor mask = arange(problem.time) < expand_dims(*problem.lengths, -1);
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&](const auto& cell) {
    auto options = problem.options(cell);
    const auto by_lengths = scan_with_gradients(cell, problem.x(), options, plain_scan);
    options.seq_lengths = std::nullopt;
    options.mask = mask;
    assert_agreement(scan_with_gradients(cell, problem.x(), options, plain_scan), by_lengths);
  });
}

RC_GTEST_PROP(MaskProperty, GoesTogetherWithCheckpoints, ()) {
  const MaskedProblem masked = any_masked();
  for_each_cell(masked.problem.in, masked.problem.hidden, masked.problem.dtype, [&](const auto& cell) {
    auto options = masked.options(cell);
    const auto at_once = scan_with_gradients(cell, masked.problem.x(), options, plain_scan);
    options.checkpoint_every = 2;
    assert_agreement(scan_with_gradients(cell, masked.problem.x(), options, plain_scan), at_once, masked.problem.dtype);
  });
}

}  // namespace
}  // namespace strata::recurrent
