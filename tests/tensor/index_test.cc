// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "support/compare.h"
#include "support/gradient_check.h"
#include "support/message_of.h"

// Expected values were computed with NumPy 2.
namespace strata {
namespace {

using support::difference;
using support::exactly;
using support::expect_gradients_match;
using support::message_of;

Tensor counting(const Shape& shape, DType dtype = DType::int64) {
  return arange(shape.num_elements()).reshape(shape).astype(dtype);
}

TEST(Take, PicksEntriesOfTheLeadingAxis) {
  EXPECT_EQ(
      difference(take(counting({2, 3}), tensor({1, 0, 1}), 0), tensor({3, 4, 5, 0, 1, 2, 3, 4, 5}, {3, 3}), exactly),
      "");
}

TEST(Take, PutsTheAxesOfTheIndicesInThePlaceOfTheAxis) {
  EXPECT_EQ(difference(take(counting({2, 3}), tensor({2, 0, -1, 1}, {2, 2}), -1),
                       tensor({2, 0, 2, 1, 5, 3, 5, 4}, {2, 2, 2}), exactly),
            "");
}

TEST(Take, WithAScalarIndexRemovesTheAxis) {
  EXPECT_EQ(difference(take(counting({2, 3}), scalar(1), 1), tensor({1, 4}), exactly), "");
  EXPECT_EQ(take(tensor({5, 6}), scalar(-1), 0).item<int>(), 6);
}

TEST(Take, AcceptsEveryIntegerType) {
  for (const DType dtype : {DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16,
                            DType::uint32, DType::uint64}) {
    EXPECT_EQ(difference(take(tensor({5, 6, 7}), tensor({2, 0}).astype(dtype), 0), tensor({7, 5}), exactly), "")
        << dtype;
  }
}

TEST(Take, OfNothing) {
  EXPECT_EQ(take(zeros({2, 3}), tensor<int>({}), 1).shape(), (Shape{2, 0}));
  EXPECT_EQ(take(zeros({3, 0}), tensor({2, 1}), 0).shape(), (Shape{2, 0}));
  EXPECT_EQ(take(zeros({0, 3}), tensor<int>({}), 0).shape(), (Shape{0, 3}));
}

TEST(Take, RefusesIndicesOutOfRange) {
  EXPECT_EQ(message_of([] {
              static_cast<void>(take(zeros({4, 2}), tensor({0, 4}), 0));
            }),
            "[take] index 4 (number 1 of int32[2]) is out of range: there are 4 entries.");
  EXPECT_THROW(static_cast<void>(take(zeros({4, 2}), tensor({-5}), 0)), ValueError);
  EXPECT_THROW(static_cast<void>(take(zeros({0, 2}), tensor({0}), 0)), ValueError);
  EXPECT_THROW(static_cast<void>(take(zeros({4}), tensor({std::numeric_limits<std::uint64_t>::max()}), 0)), ValueError);
}

TEST(Take, RefusesIndicesThatAreNotIntegers) {
  EXPECT_EQ(message_of([] { static_cast<void>(take(zeros({4}), tensor({0.0f}), 0)); }),
            "[take] indices must be integers, got float32[1].");
  EXPECT_THROW(static_cast<void>(take(zeros({4}), tensor({true}), 0)), DTypeError);
  EXPECT_THROW(static_cast<void>(take(scalar(1.0f), tensor({0}), 0)), ShapeError);
}

TEST(Take, AddsUpTheGradientsOfRepeatedIndices) {
  expect_gradients_match(
      [](const Tensor& x) {
        return take(x, tensor({2, 0, 2, -1}), 0);
      },
      counting({3, 2}, DType::float64));
  expect_gradients_match(
      [](const Tensor& x) {
        return take(x, tensor({1, 1, 0, 3}, {2, 2}), 1);
      },
      counting({2, 4, 2}, DType::float64));
}

TEST(Take, SumsTheGradientsOfTwoByteFloatsInFloat32) {
  GradientTape tape;
  const Tensor x = tape.watch(zeros({1}, DType::float16));
  const Tensor y = take(x, zeros({4097}, DType::int32), 0);
  // One by one in float16, the sum of ones would stay at 2048.
  const Tensor gradient = tape.gradient(std::vector<Tensor>{y}, std::vector<Tensor>{ones({4097}, DType::float16)},
                                        std::vector<Tensor>{x})[0];
  EXPECT_EQ(gradient.dtype(), DType::float16);
  EXPECT_EQ(gradient.item<float>(), 4096.0f);  // 4097 rounded to even
}

TEST(TakeAlongAxis, PicksOneElementForEachIndex) {
  EXPECT_EQ(difference(take_along_axis(counting({2, 3}), tensor({2, 0, 1, -3}, {2, 2}), 1),
                       tensor({2, 0, 4, 3}, {2, 2}), exactly),
            "");
}

TEST(TakeAlongAxis, BroadcastsTheOtherAxes) {
  EXPECT_EQ(
      difference(take_along_axis(counting({2, 3}), tensor({1, 0, 1}, {1, 3}), 0), tensor({3, 1, 5}, {1, 3}), exactly),
      "");
  EXPECT_EQ(difference(take_along_axis(counting({1, 3}), tensor({1, 0}, {2, 1}), 1), tensor({1, 0}, {2, 1}), exactly),
            "");
}

TEST(TakeAlongAxis, OfNothing) {
  EXPECT_EQ(take_along_axis(zeros({2, 3}), zeros({2, 0}, DType::int32), 1).shape(), (Shape{2, 0}));
  EXPECT_EQ(take_along_axis(zeros({0, 3}), zeros({0, 2}, DType::int32), 1).shape(), (Shape{0, 2}));
}

TEST(TakeAlongAxis, RefusesWhatDoesNotFit) {
  EXPECT_EQ(message_of([] {
              static_cast<void>(take_along_axis(zeros({2, 3}), zeros({3, 1}, DType::int32), 1));
            }),
            "[take_along_axis] indices int32[3, 1] do not fit float32[2, 3]: ranks must be equal, and sizes other than "
            "that of axis 1 equal or 1.");
  EXPECT_THROW(static_cast<void>(take_along_axis(zeros({2, 3}), zeros({2}, DType::int32), 1)), ShapeError);
  EXPECT_THROW(static_cast<void>(take_along_axis(zeros({2, 3}), full({2, 1}, 3, DType::int32), 1)), ValueError);
  EXPECT_THROW(static_cast<void>(take_along_axis(zeros({2, 3}), zeros({2, 1}), 1)), DTypeError);
}

TEST(TakeAlongAxis, IsDifferentiable) {
  expect_gradients_match(
      [](const Tensor& x) {
        return take_along_axis(x, tensor({2, 2, 0, -1}, {2, 2}), 1);
      },
      counting({2, 3}, DType::float64));
  expect_gradients_match(
      [](const Tensor& x) {
        return take_along_axis(x, tensor({2, 2, 0, -1}, {2, 2, 1}), 1);
      },
      counting({1, 3, 2}, DType::float64));
}

TEST(ScatterAdd, AddsWhereTheIndicesPoint) {
  const Tensor x = counting({2, 3});
  const Tensor y = scatter_add(x, tensor({0, 0, -1}), tensor<std::int64_t>({1, 2, 3, 4, 5, 6}, {2, 3}), 1);
  EXPECT_EQ(difference(y, tensor({3, 1, 5, 12, 4, 11}, {2, 3}), exactly), "");
  EXPECT_EQ(difference(x, tensor({0, 1, 2, 3, 4, 5}, {2, 3}), exactly), "") << "the argument was written to";
}

TEST(ScatterAdd, AcceptsUpdatesThatShareTheElementsOfTheTensor) {
  const Tensor x = tensor({1.0f, 2.0f});
  EXPECT_EQ(difference(scatter_add(x, tensor({1, 0}), x, 0), tensor({3.0f, 3.0f}), exactly), "");
}

TEST(ScatterAdd, OfNothingIsTheSameTensor) {
  const Tensor x = tensor({1.0f, 2.0f});
  EXPECT_TRUE(scatter_add(x, tensor<int>({}), Tensor(), 0).shares_elements_with(x));
}

TEST(ScatterAdd, WrapsIntegersAround) {
  const Tensor y = scatter_add(tensor<std::int8_t>({127}), tensor({0}), tensor<std::int8_t>({1}), 0);
  EXPECT_EQ(y.item<int>(), -128);
}

TEST(ScatterAdd, RefusesWhatDoesNotFit) {
  EXPECT_EQ(message_of([] {
              static_cast<void>(scatter_add(zeros({2, 3}), tensor({0}), zeros({2, 2}), 1));
            }),
            "[scatter_add] updates have the shape [2, 2], expected [2, 1] for float32[2, 3] and indices [1].");
  EXPECT_THROW(static_cast<void>(scatter_add(zeros({2}), tensor({0}), tensor({1}), 0)), DTypeError);
  EXPECT_THROW(static_cast<void>(scatter_add(zeros({2}), tensor({2}), zeros({1}), 0)), ValueError);
}

TEST(ScatterAdd, IsDifferentiable) {
  expect_gradients_match(
      [](const Tensor& x, const Tensor& updates) {
        return scatter_add(x, tensor({2, 0, 2}), updates, 1);
      },
      counting({2, 3}, DType::float64), counting({2, 3}, DType::float64));
}

TEST(OneHot, SetsOneElementPerIndex) {
  EXPECT_EQ(difference(one_hot(tensor({1, 0, -1}), 3), tensor({0, 1, 0, 1, 0, 0, 0, 0, 1}, {3, 3}), exactly), "");
  EXPECT_EQ(one_hot(scalar(1), 2).shape(), Shape{2});
  EXPECT_EQ(one_hot(tensor<int>({}), 3).shape(), (Shape{0, 3}));
  EXPECT_EQ(one_hot(tensor<int>({}), 0).shape(), (Shape{0, 0}));
}

TEST(OneHot, IsOfTheTypeAskedFor) {
  EXPECT_EQ(one_hot(tensor({1}), 2).dtype(), DType::float32);
  EXPECT_TRUE(identical(one_hot(tensor({1}), 2, DType::boolean), tensor({false, true}, {1, 2})));
  EXPECT_EQ(difference(one_hot(tensor({1}), 2, DType::bfloat16), tensor({0, 1}, {1, 2}), exactly), "");
}

TEST(OneHot, RefusesIndicesOutOfRange) {
  EXPECT_EQ(message_of([] { static_cast<void>(one_hot(tensor({3}), 3)); }),
            "[one_hot] index 3 (number 0 of int32[1]) is out of range: there are 3 entries.");
  EXPECT_THROW(static_cast<void>(one_hot(tensor({0}), 0)), ValueError);
  EXPECT_THROW(static_cast<void>(one_hot(tensor({0}), -1)), ValueError);
}

}  // namespace
}  // namespace strata
