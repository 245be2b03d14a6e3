// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/reduce.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/reduce.h"
#include "strata/tensor/thread_pool.h"
#include "support/compare.h"
#include "support/gradient_check.h"

// Expected values are NumPy 2.4's unless said otherwise.
namespace strata {
namespace {

using support::difference;
using support::exactly;
using support::expect_gradients_match;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const Tensor matrix = tensor({1.0, 2.0, 3.0, 4.0, 5.0, 7.0}, {2, 3});
const Tensor mixed = tensor({0.7, -1.3, 2.1, -0.4, 1.6, -2.2}, {2, 3});

TEST(Sum, OverAllOrNamedAxes) {
  EXPECT_TRUE(identical(sum(matrix), scalar(22.0)));
  EXPECT_TRUE(identical(sum(matrix, 0), tensor({5.0, 7.0, 10.0})));
  EXPECT_TRUE(identical(sum(matrix, -1), tensor({6.0, 16.0})));
  EXPECT_TRUE(identical(sum(matrix, {0, 1}, {.keep_dims = true}), tensor({22.0}, {1, 1})));
  EXPECT_TRUE(identical(sum(matrix, {}, {.keep_dims = true}), tensor({22.0}, {1, 1})));
  EXPECT_TRUE(identical(sum(matrix, {-1}, {.keep_dims = true}), tensor({6.0, 16.0}, {2, 1})));
}

TEST(Sum, OverAxesThatAreNotNeighbours) {
  const Tensor x = arange(24).reshape({2, 3, 4});
  EXPECT_TRUE(identical(sum(x, {0, 2}), tensor<std::int64_t>({60, 92, 124})));
  EXPECT_TRUE(identical(sum(x, 1), tensor<std::int64_t>({12, 15, 18, 21, 48, 51, 54, 57}, {2, 4})));
  EXPECT_TRUE(identical(sum(x.reshape({2, 1, 3, 1, 4}), {-1, 0, 1}), tensor<std::int64_t>({60, 92, 124}, {3, 1})));
}

TEST(Sum, OfScalarsAndOfNoElements) {
  EXPECT_TRUE(identical(sum(scalar(3.0F)), scalar(3.0F)));
  EXPECT_TRUE(identical(sum(zeros({0})), scalar(0.0F)));
  EXPECT_TRUE(identical(sum(zeros({0, 3}), 0), zeros({3})));
  EXPECT_EQ(sum(zeros({0, 3}), 1).shape(), Shape{0});
}

TEST(Sum, OfIntegersAndBoolsHas64Bits) {
  EXPECT_TRUE(identical(sum(tensor<std::uint8_t>({200, 100})), scalar<std::uint64_t>(300)));
  EXPECT_TRUE(identical(sum(tensor<std::int8_t>({100, 100})), scalar<std::int64_t>(200)));
  EXPECT_TRUE(identical(sum(tensor({true, true, false})), scalar<std::int64_t>(2)));
}

TEST(Sum, OfTwoByteFloatsIsRoundedOnce) {
  EXPECT_EQ(sum(ones({3000}, DType::float16)).item<float>(), 3000.0F);
  EXPECT_EQ(sum(ones({3000}, DType::float16)).dtype(), DType::float16);
  EXPECT_EQ(sum(ones({300, 2}, DType::bfloat16), 0).at<float>({1}), 300.0F);
}

// One large element would swallow all others in float32.
TEST(Sum, OfFloat32IsAccumulatedInFloat64) {
  Tensor x = ones({10'001});
  x.mutable_data<float>()[0] = 1e8F;
  EXPECT_EQ(sum(x).item<float>(), 100'010'000.0F);
  EXPECT_EQ(sum(x.reshape({10'001, 1}), 0).item<float>(), 100'010'000.0F);
}

TEST(Sum, HasTheSameBitsForAnyNumberOfThreads) {
  const Tensor x = sin(linspace(0, 1000, 3 * 111'111)).reshape({111'111, 3});
  const int before = num_threads();
  set_num_threads(1);
  const Tensor all = sum(x);
  const Tensor columns = sum(x, 0);
  const Tensor rows = sum(x, 1);
  set_num_threads(3);
  EXPECT_TRUE(identical(sum(x), all));
  EXPECT_TRUE(identical(sum(x, 0), columns));
  EXPECT_TRUE(identical(sum(x, 1), rows));
  set_num_threads(before);
}

TEST(Sum, OfManyBlocksCountsEveryElementOnce) {
  EXPECT_EQ(sum(ones({1'000'003})).item<float>(), 1'000'003.0F);
  EXPECT_TRUE(identical(sum(ones({500'001, 2}), 0), tensor({500'001.0F, 500'001.0F})));
  EXPECT_TRUE(identical(max(arange(300'000)), scalar<std::int64_t>(299'999)));
}

TEST(Reduce, RefusesAxesThatAreNotThere) {
  EXPECT_THROW(static_cast<void>(sum(matrix, 2)), ShapeError);
  EXPECT_THROW(static_cast<void>(mean(matrix, {0, -2})), ShapeError);
  EXPECT_THROW(static_cast<void>(max(scalar(1.0F), 0)), ShapeError);
  EXPECT_THROW(static_cast<void>(argmax(scalar(1.0F), 0)), ShapeError);
}

TEST(Prod, MultipliesAndIsOneOfNoElements) {
  EXPECT_TRUE(identical(prod(tensor<std::int16_t>({3, 5, 7})), scalar<std::int64_t>(105)));
  EXPECT_TRUE(identical(prod(matrix, 0), tensor({4.0, 10.0, 21.0})));
  EXPECT_TRUE(identical(prod(zeros({0})), scalar(1.0F)));
}

TEST(Mean, OfFloatsAndIntegers) {
  EXPECT_TRUE(identical(mean(matrix, 1), tensor({2.0, 16.0 / 3})));
  EXPECT_TRUE(identical(mean(tensor({1, 2})), scalar(1.5)));
  EXPECT_EQ(mean(tensor({0.333251953125F, 0.66650390625F, 1.0F, 1.3330078125F}).astype(DType::float16)).item<double>(),
            0.8330078125);
  EXPECT_EQ(difference(mean(zeros({0})), scalar(nan), exactly), "");
}

TEST(Variance, IsTheMeanSquaredDistance) {
  EXPECT_TRUE(identical(variance(matrix, 0), tensor({2.25, 2.25, 4.0})));
  EXPECT_EQ(difference(variance(matrix), scalar(3.8888888888888893), support::within(1e-15)), "");
  EXPECT_EQ(variance(matrix, 1, {.keep_dims = true}).shape(), (Shape{2, 1}));
  EXPECT_TRUE(identical(variance(tensor({1, 3})), scalar(1.0)));
}

TEST(Extreme, OverAxes) {
  EXPECT_TRUE(identical(max(matrix, 0), tensor({4.0, 5.0, 7.0})));
  EXPECT_TRUE(identical(min(matrix, 1), tensor({1.0, 4.0})));
  EXPECT_TRUE(identical(max(tensor<std::int8_t>({-5, -3})), scalar<std::int8_t>(-3)));
  EXPECT_TRUE(identical(min(tensor<std::uint8_t>({5, 3})), scalar<std::uint8_t>(3)));
  EXPECT_TRUE(identical(max(tensor({-infinity, -infinity})), scalar(-infinity)));
}

TEST(Extreme, PropagatesNaNAlongShortAndLongRows) {
  EXPECT_EQ(difference(max(tensor({1.0, nan, 3.0})), scalar(nan), exactly), "");
  for (const Index where_nan : {0, 20, 98, 99}) {
    Tensor x = linspace(0, 1, 100);
    x.mutable_data<float>()[static_cast<std::size_t>(where_nan)] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(difference(max(x), scalar(nan), exactly), "") << where_nan;
    EXPECT_EQ(difference(min(x.reshape({100, 1}), 0), tensor({nan}), exactly), "") << where_nan;
  }
}

TEST(Extreme, OfNoElementsIsAnError) {
  EXPECT_THROW(static_cast<void>(max(zeros({0}))), ShapeError);
  EXPECT_THROW(static_cast<void>(min(zeros({2, 0}), 1)), ShapeError);
  EXPECT_THROW(static_cast<void>(argmax(zeros({0}))), ShapeError);
  EXPECT_THROW(static_cast<void>(argmin(zeros({2, 0}), 1)), ShapeError);
  EXPECT_EQ(max(zeros({0, 3}), 1).shape(), Shape{0});
  EXPECT_EQ(argmax(zeros({0, 3}), 1).shape(), Shape{0});
}

TEST(AnyAll, OfTruthValuesAndNumbers) {
  const Tensor x = tensor({0, 1, 2, 3}, {2, 2});
  EXPECT_TRUE(identical(any(x, 1), tensor({true, true})));
  EXPECT_TRUE(identical(all(x, 1), tensor({false, true})));
  EXPECT_TRUE(identical(any(zeros({3})), scalar(false)));
  EXPECT_TRUE(identical(any(zeros({0})), scalar(false)));
  EXPECT_TRUE(identical(all(zeros({0})), scalar(true)));
}

TEST(ArgMax, IsTheFirstOfEqualOnes) {
  const Tensor x = tensor({1.0, 5.0, 5.0, nan, 2.0, nan}, {2, 3});
  EXPECT_TRUE(identical(argmax(x, 1), tensor<std::int64_t>({1, 0})));
  EXPECT_TRUE(identical(argmin(x, 0), tensor<std::int64_t>({1, 1, 1})));
  EXPECT_TRUE(identical(argmax(x), scalar<std::int64_t>(3)));
  EXPECT_TRUE(identical(argmin(tensor({3, 1, 1})), scalar<std::int64_t>(1)));
  EXPECT_TRUE(identical(argmax(arange(24).reshape({2, 3, 4}), 1), full({2, 4}, 2, DType::int64)));
}

TEST(SumToShape, UndoesBroadcasting) {
  const Tensor x = ones({4, 2, 3});
  EXPECT_TRUE(identical(internal::sum_to_shape(x, {2, 1}), full({2, 1}, 12)));
  EXPECT_TRUE(identical(internal::sum_to_shape(x, {}), scalar(24.0F)));
  EXPECT_TRUE(internal::sum_to_shape(x, {4, 2, 3}).shares_elements_with(x));
}

TEST(ReduceGradient, OfSumsAndMeans) {
  for (const Axes& axes : {Axes(), Axes(0), Axes(-1)}) {
    expect_gradients_match([&](const Tensor& x) { return sum(x, axes); }, mixed);
    expect_gradients_match([&](const Tensor& x) { return mean(x, axes, {.keep_dims = true}); }, mixed);
    expect_gradients_match([&](const Tensor& x) { return variance(x, axes); }, mixed);
    expect_gradients_match([&](const Tensor& x) { return max(x, axes); }, mixed);
    expect_gradients_match([&](const Tensor& x) { return min(x, axes, {.keep_dims = true}); }, mixed);
    expect_gradients_match([&](const Tensor& x) { return prod(x, axes); }, mixed);
  }
}

TEST(ReduceGradient, OfProductsWithZeros) {
  expect_gradients_match([](const Tensor& x) { return prod(x, 1); },
                         tensor({0.0, 2.0, 3.0, 0.0, 0.0, 5.0, 1.0, 2.0, 4.0}, {3, 3}));
}

TEST(ReduceGradient, OfExtremesGoesToTheFirstOfEqualOnes) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({5.0, 1.0, 5.0, 1.0}, {2, 2}));
  const Tensor loss = max(x) * 10 + sum(min(x, 0));
  EXPECT_TRUE(identical(tape.gradient(loss, {x})[0], tensor({11.0, 1.0, 0.0, 0.0}, {2, 2})));
}

TEST(ReduceGradient, OfTwoByteFloatsKeepsTheirType) {
  GradientTape tape;
  const Tensor x = tape.watch(ones({4}, DType::float16));
  EXPECT_TRUE(identical(tape.gradient(mean(x), {x})[0], full({4}, 0.25, DType::float16)));
}

TEST(Mean, OfIntegersDoesNotWrap) {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(mean(tensor({largest, largest})).item<double>(), 9.223372036854775807e18);
}

}  // namespace
}  // namespace strata
