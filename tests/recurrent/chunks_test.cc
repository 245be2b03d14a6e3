// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <vector>

#include "recurrent/scan_problem.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/tensor/error.h"

namespace strata::recurrent {
namespace {

using Doubles = std::vector<double>;

TEST(Chunks, CutTimeIntoEqualPartsAndARest) {
  const Chunks parts = chunks(three_rows(), 3);
  ASSERT_EQ(parts.size(), 2);
  EXPECT_EQ(elements(parts[0].x), (Doubles{1, 2, 3, 5, 6, 7, 1, 1, 1}));
  EXPECT_EQ(elements(parts[1].x), (Doubles{4, 8, 1}));
  EXPECT_EQ(parts[1].begin, 3);
  EXPECT_EQ(parts[1].end, 4);
  EXPECT_FALSE(parts[1].seq_lengths.has_value());
}

TEST(Chunks, CutLengthsAndResets) {
  const Tensor resets = three_rows() > 4;
  const Chunks parts = chunks(three_rows(), 2, {.seq_lengths = tensor({3, 0, 4}), .resets = resets.reshape({3, 4})});
  EXPECT_EQ(elements(*parts[0].seq_lengths), (Doubles{2, 0, 2}));
  EXPECT_EQ(elements(*parts[1].seq_lengths), (Doubles{1, 0, 2}));
  EXPECT_EQ(elements(*parts[1].resets), (Doubles{0, 0, 1, 1, 0, 0}));
}

TEST(Chunks, TakeTimeFirstAndAnyNumberOfBatchAxes) {
  EXPECT_EQ(chunks(ones({7, 2, 3, 1}), 4, {.num_batch_dims = 2, .time_major = true})[1].x.shape(), (Shape{3, 2, 3, 1}));
  EXPECT_EQ(chunks(ones({2, 3, 7, 1}), 4, {.num_batch_dims = 2})[1].x.shape(), (Shape{2, 3, 3, 1}));
  EXPECT_EQ(chunks(ones({7, 1}), 4, {.seq_lengths = scalar(5), .num_batch_dims = 0})[1].x.shape(), (Shape{3, 1}));
}

TEST(Chunks, OfNoStepsAreNone) {
  for (const Chunk& chunk : chunks(ones({2, 0, 1}), 3)) FAIL() << chunk.begin;
}

TEST(Chunks, MayBeLongerThanTheSequence) {
  const Chunks parts = chunks(three_rows(), std::numeric_limits<Index>::max());
  ASSERT_EQ(parts.size(), 1);
  EXPECT_EQ(parts[0].end, 4);
}

TEST(Chunks, RefuseWhatDoesNotFit) {
  EXPECT_THROW((void)chunks(three_rows(), 0), ValueError);
  EXPECT_THROW((void)chunks(ones({3}), 1), ShapeError);
  EXPECT_THROW((void)chunks(three_rows(), 1, {.seq_lengths = tensor({1, 2})}), ShapeError);
  EXPECT_THROW((void)chunks(three_rows(), 1, {.seq_lengths = tensor({1, 2, 5})}), ValueError);
  EXPECT_THROW((void)chunks(three_rows(), 1, {.resets = ones({3, 4})}), DTypeError);
  EXPECT_THROW((void)chunks(three_rows(), 1)[4], ValueError);
}

RC_GTEST_PROP(ChunksProperty, GiveTheBitsOfOneScan, ()) {
  Problem problem = any_batch();
  if (*rc::gen::arbitrary<bool>()) problem = with_resets(problem);
  problem.reverse = false;
  problem.padding_output = PaddingOutput::zero;
  const Index steps = *rc::gen::inRange<Index>(1, 5);
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&]<class C>(C cell) {
    auto options = problem.options(cell);
    const auto whole = scan(cell, problem.x(), options);
    auto carry = options.initial_carry.value_or(cell.initial_carry({problem.batch[0], problem.in}));
    if (!options.reset_carry) options.reset_carry = carry;
    std::vector<Tensor> outputs{whole.y.shape().num_elements() == 0 ? whole.y : slice_axis(whole.y, 1, 0, 0)};
    for (const Chunk& chunk : chunks(problem.x(), steps, {.seq_lengths = problem.lengths, .resets = problem.resets})) {
      options.seq_lengths = chunk.seq_lengths;
      options.resets = chunk.resets;
      options.initial_carry = carry;
      auto result = scan(cell, chunk.x, options);
      carry = result.carry;
      outputs.push_back(result.y);
    }
    assert_same(whole, ScanResult<typename C::Carry>{carry, concatenate(outputs, 1)});
  });
}

TEST(StopGradient, ForgetsTheHistoryOfACarry) {
  RunningSum cell;
  GradientTape tape;
  const Tensor x = tape.watch(tensor({1.0F, 2.0F, 4.0F, 8.0F}, {4, 1}));
  const Chunks parts = chunks(x, 2, {.num_batch_dims = 0});
  const auto first = scan(cell, parts[0].x);
  const auto second = scan(cell, parts[1].x, {.initial_carry = stop_gradient(first.carry)});
  EXPECT_EQ(elements(second.y), (Doubles{7, 15}));
  EXPECT_EQ(elements(tape.gradient(sum(second.y), {x})[0]), (Doubles{0, 0, 2, 1}));
}

TEST(StopGradient, TakesCarriesWithinCarries) {
  GradientTape tape;
  const Tensor c = tape.watch(ones({1}));
  const BidirectionalCarry<RunningSum::Carry, RunningSum::Carry> carry{{c}, {c * 2}};
  const auto stopped = stop_gradient(carry);
  EXPECT_FALSE(stopped.forward.sum.is_tracked());
  EXPECT_FALSE(stopped.backward.sum.is_tracked());
}

}  // namespace
}  // namespace strata::recurrent
