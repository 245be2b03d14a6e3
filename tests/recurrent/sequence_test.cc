// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "recurrent/cells.h"
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

// Origin of the first two: the documented mapping, and flax.nnx.flip_sequences 0.12.
TEST(FlipSequences, ReversesTheWholeAxisWithoutLengths) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_TRUE(identical(flip_sequences(x), tensor({3, 2, 1, 6, 5, 4}, {2, 3})));
}

TEST(FlipSequences, ReversesThePaddingBehindTheValidSteps) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  EXPECT_TRUE(identical(flip_sequences(x, tensor({4, 2})), tensor({4, 3, 2, 1, 6, 5, 8, 7}, {2, 4})));
}

TEST(FlipSequences, ReversesARowOfLengthZeroAsAWhole) {
  EXPECT_TRUE(identical(flip_sequences(tensor({1, 2, 3}, {1, 3}), tensor({0})), tensor({3, 2, 1}, {1, 3})));
}

TEST(FlipSequences, KeepsFeaturesTogether) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {1, 3, 2});
  EXPECT_TRUE(identical(flip_sequences(x, tensor({2})), tensor({3, 4, 1, 2, 5, 6}, {1, 3, 2})));
}

TEST(FlipSequences, TakesTimeFirst) {
  const Tensor x = tensor({1, 5, 2, 6, 3, 7}, {3, 2});
  const Tensor flipped = flip_sequences(x, tensor({3, 2}), {.time_major = true});
  EXPECT_TRUE(identical(flipped, tensor({3, 6, 2, 5, 1, 7}, {3, 2})));
}

TEST(FlipSequences, TakesAnUnbatchedSequence) {
  const Tensor x = tensor({1, 2, 3});
  EXPECT_TRUE(identical(flip_sequences(x, {}, {.num_batch_dims = 0}), tensor({3, 2, 1})));
  EXPECT_TRUE(identical(flip_sequences(x, scalar(2), {.num_batch_dims = 0}), tensor({2, 1, 3})));
}

TEST(FlipSequences, TakesTwoBatchAxes) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
  const Tensor flipped = flip_sequences(x, tensor({2, 1, 1, 2}, {2, 2}), {.num_batch_dims = 2});
  EXPECT_TRUE(identical(flipped, tensor({2, 1, 3, 4, 5, 6, 8, 7}, {2, 2, 2})));
}

TEST(FlipSequences, TakesNoStepsAndNoRows) {
  EXPECT_EQ(flip_sequences(zeros({2, 0, 3}), tensor({0, 0})).shape(), (Shape{2, 0, 3}));
  EXPECT_EQ(flip_sequences(zeros({0, 4, 3}), zeros({0}, DType::int32)).shape(), (Shape{0, 4, 3}));
}

TEST(FlipSequences, LeavesItsArgumentAsItWas) {
  const Tensor x = tensor({1, 2, 3}, {1, 3});
  (void)flip_sequences(x);
  EXPECT_TRUE(identical(x, tensor({1, 2, 3}, {1, 3})));
}

TEST(FlipSequences, TakesEveryElementType) {
  for (const DType dtype : {DType::boolean, DType::uint8, DType::int64, DType::bfloat16, DType::float64}) {
    const Tensor x = tensor({0, 1, 1, 1}, {1, 4}).astype(dtype);
    EXPECT_TRUE(identical(flip_sequences(x), tensor({1, 1, 1, 0}, {1, 4}).astype(dtype))) << name(dtype);
  }
}

TEST(FlipSequences, HasAGradient) {
  const Tensor x = random::normal(random::key(1), {3, 4, 2}, DType::float64);
  const auto f = [](const Tensor& a) { return flip_sequences(a, tensor({4, 2, 0})); };
  support::expect_gradients_match(f, x);
}

TEST(FlipSequences, RefusesTensorsWithoutTimeAxis) {
  EXPECT_THROW((void)flip_sequences(zeros({3})), ShapeError);
  EXPECT_THROW((void)flip_sequences(scalar(1), {}, {.num_batch_dims = 0}), ShapeError);
  EXPECT_THROW((void)flip_sequences(zeros({3}), {}, {.num_batch_dims = -1}), ShapeError);
}

TEST(FlipSequences, RefusesLengthsThatDoNotFit) {
  const Tensor x = zeros({3, 4});
  const auto flipped = [&](const Tensor& lengths) { return [&x, lengths] { (void)flip_sequences(x, lengths); }; };
  EXPECT_THAT(flipped(tensor({5, 2, 1})), ThrowsMessage<ValueError>(AllOf(HasSubstr("5"), HasSubstr("[0, 4]"))));
  EXPECT_THAT(flipped(tensor({4, -1, 1})), ThrowsMessage<ValueError>(HasSubstr("-1")));
  EXPECT_THAT(flipped(tensor({4, 2})), ThrowsMessage<ShapeError>(AllOf(HasSubstr("[2]"), HasSubstr("[3]"))));
  EXPECT_THAT(flipped(tensor({4, 2, 1}, {3, 1})), ThrowsMessage<ShapeError>(HasSubstr("[3, 1]")));
  EXPECT_THAT(flipped(scalar(1)), ThrowsMessage<ShapeError>(HasSubstr("[3]")));
  EXPECT_THAT(flipped(tensor({4.0f, 2.0f, 1.0f})), ThrowsMessage<DTypeError>(HasSubstr("float32")));
  EXPECT_THAT(flipped(tensor({true, true, false})), ThrowsMessage<DTypeError>(HasSubstr("bool")));
}

TEST(CheckedLengths, RefusesUnsignedNumbersBeyondInt64) {
  const Tensor lengths = tensor<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()});
  EXPECT_THAT([&] { (void)internal::checked_lengths(lengths, {1}, 4, "scan"); },
              ThrowsMessage<ValueError>("[scan] length 18446744073709551615 is not in [0, 4], the number of steps."));
}

RC_GTEST_PROP(FlipSequencesProperty, IsItsOwnInverse, ()) {
  const auto time = *rc::gen::inRange<Index>(0, 6);
  const auto rows = *rc::gen::inRange<Index>(0, 4);
  const auto lengths =
      *rc::gen::container<std::vector<Index>>(static_cast<std::size_t>(rows), rc::gen::inRange<Index>(0, time + 1));
  const bool time_major = *rc::gen::arbitrary<bool>();
  const Tensor x = random::normal(random::key(time), time_major ? Shape{time, rows, 2} : Shape{rows, time, 2});
  const Tensor row_lengths = tensor(lengths, {rows});
  const FlipOptions options{.time_major = time_major};
  RC_ASSERT(identical(flip_sequences(flip_sequences(x, row_lengths, options), row_lengths, options), x));
}

TEST(BlockZeroGradient, EndsAGradientOfZeros) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({0.0f}));
  const Tensor y = internal::block_zero_gradient(sqrt(x));  // of infinite slope
  EXPECT_EQ(elements(tape.gradient(sum(where(tensor({false}), y, x)), {x})[0]), std::vector<double>{1});
}

TEST(BlockZeroGradient, LetsAnyOtherGradientPass) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({3.0f}));
  EXPECT_EQ(elements(tape.gradient(sum(internal::block_zero_gradient(x) * x), {x})[0]), std::vector<double>{6});
}

}  // namespace
}  // namespace strata::recurrent
