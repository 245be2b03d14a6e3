// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/arithmetic.h"

#include <gtest/gtest.h>

#include <limits>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/reduce.h"
#include "strata/tensor/thread_pool.h"
#include "support/compare.h"

// Expected values are NumPy 2.4's unless said otherwise.
namespace strata {
namespace {

using support::difference;
using support::exactly;
using support::within_scaled;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr auto a_few_ulps = within_scaled(1e-15);  // of float64, between one libm and another

const Tensor numbers = tensor({-1.5, -0.25, 0.0, 0.5, 2.0});

TEST(Arithmetic, CombinesElementsOfEqualShapes) {
  const Tensor a = tensor({1.0F, 2.0F, 3.0F});
  const Tensor b = tensor({4.0F, -5.0F, 0.5F});
  EXPECT_TRUE(identical(a + b, tensor({5.0F, -3.0F, 3.5F})));
  EXPECT_TRUE(identical(a - b, tensor({-3.0F, 7.0F, 2.5F})));
  EXPECT_TRUE(identical(a * b, tensor({4.0F, -10.0F, 1.5F})));
  EXPECT_TRUE(identical(a / b, tensor({0.25F, -0.4F, 6.0F})));
  EXPECT_TRUE(identical(-a, tensor({-1.0F, -2.0F, -3.0F})));
}

TEST(Arithmetic, LongRowsAgreeWithShortOnes) {
  Tensor a = Tensor::uninitialized({37}, DType::float32);
  for (int i = 0; i < 37; ++i) a.mutable_data<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i) - 17.5F;
  const Tensor b = a * a;
  for (Index i = 0; i < 37; ++i)
    EXPECT_EQ(b.at<float>({i}), (static_cast<float>(i) - 17.5F) * (static_cast<float>(i) - 17.5F));
}

TEST(Arithmetic, NumbersStandOnEitherSide) {
  const Tensor a = tensor({1.0F, 2.0F, 4.0F});
  EXPECT_TRUE(identical(a + 1, tensor({2.0F, 3.0F, 5.0F})));
  EXPECT_TRUE(identical(1 - a, tensor({0.0F, -1.0F, -3.0F})));
  EXPECT_TRUE(identical(a - 1, tensor({0.0F, 1.0F, 3.0F})));
  EXPECT_TRUE(identical(0.5 * a, tensor({0.5F, 1.0F, 2.0F})));
  EXPECT_TRUE(identical(2 / a, tensor({2.0F, 1.0F, 0.5F})));
  EXPECT_TRUE(identical(a / 2, tensor({0.5F, 1.0F, 2.0F})));
}

TEST(Arithmetic, BroadcastsRowsColumnsAndScalars) {
  const Tensor matrix = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_TRUE(identical(matrix + tensor({10, 20, 30}), tensor({11, 22, 33, 14, 25, 36}, {2, 3})));
  EXPECT_TRUE(identical(matrix * tensor({10, 100}, {2, 1}), tensor({10, 20, 30, 400, 500, 600}, {2, 3})));
  EXPECT_TRUE(identical(matrix - scalar(1), tensor({0, 1, 2, 3, 4, 5}, {2, 3})));
  EXPECT_TRUE(identical(tensor({1, 2}, {2, 1}) - tensor({1, 2, 3}), tensor({0, -1, -2, 1, 0, -1}, {2, 3})));
}

TEST(Arithmetic, BroadcastsInnerAndOuterAxesAtOnce) {
  const Tensor a = arange(12).reshape({2, 1, 3, 2});
  const Tensor b = tensor<std::int64_t>({0, 100, 200, 300, 400, 500}, {2, 3, 1});
  const Tensor y = a + b;
  EXPECT_EQ(y.shape(), (Shape{2, 2, 3, 2}));
  EXPECT_EQ(y.at<int>({1, 0, 2, 1}), 11 + 200);
  EXPECT_EQ(y.at<int>({0, 1, 1, 0}), 2 + 400);
}

TEST(Arithmetic, TakesRanksAboveSix) {
  const Tensor a = ones({2, 1, 2, 1, 2, 1, 2});
  const Tensor b = ones({1, 2, 1, 2, 1, 2, 1});
  EXPECT_EQ((a + b).shape(), (Shape{2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(sum(a + b).item<float>(), 256.0F);
}

TEST(Arithmetic, RankZeroAndEmptyTensors) {
  EXPECT_TRUE(identical(scalar(2.0F) * scalar(3.0F), scalar(6.0F)));
  EXPECT_EQ((zeros({0, 3}) + ones({3})).shape(), (Shape{0, 3}));
  EXPECT_EQ((zeros({2, 0}) * 2).shape(), (Shape{2, 0}));
  EXPECT_EQ((zeros({0}) + ones({1})).shape(), Shape{0});
}

TEST(Arithmetic, PromotesElementTypes) {
  EXPECT_TRUE(identical(tensor<std::int8_t>({100}) + tensor<std::uint8_t>({200}), tensor<std::int16_t>({300})));
  EXPECT_TRUE(identical(tensor<std::int32_t>({1}) + tensor({0.5F}), tensor({1.5})));
  EXPECT_TRUE(identical(tensor({true}) + 1, tensor<std::int64_t>({2})));
  EXPECT_TRUE(identical(tensor({3}) * 0.5, tensor({1.5})));
}

TEST(Arithmetic, IntegersWrapAround) {
  const Tensor x = tensor<std::int8_t>({127, -128, 5});
  EXPECT_TRUE(identical(x + x, tensor<std::int8_t>({-2, 0, 10})));
  EXPECT_TRUE(identical(x * x, tensor<std::int8_t>({1, 0, 25})));
  EXPECT_TRUE(identical(-x, tensor<std::int8_t>({-127, -128, -5})));
  EXPECT_TRUE(identical(abs(x), tensor<std::int8_t>({127, -128, 5})));
  EXPECT_TRUE(identical(tensor<std::uint16_t>({65535}) * tensor<std::uint16_t>({65535}), tensor<std::uint16_t>({1})));
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_TRUE(identical(tensor({lowest}) - 1, tensor({std::numeric_limits<std::int64_t>::max()})));
}

TEST(Arithmetic, QuotientsOfIntegersAreFloat64) {
  const Tensor quotient = tensor<std::int8_t>({127, -128, 5}) / tensor<std::int8_t>({2, 3, 0});
  EXPECT_TRUE(identical(quotient, tensor({63.5, -42.666666666666664, infinity})));
  EXPECT_TRUE(identical(tensor({true}) / 2, tensor({0.5})));
}

TEST(Arithmetic, TwoByteFloatsComputeInFloat32AndRoundOnce) {
  const Tensor third = (arange(5).slice(1, 5).astype(DType::float16) / 3);
  EXPECT_EQ(third.dtype(), DType::float16);
  EXPECT_EQ(difference(third, tensor({0.333251953125, 0.66650390625, 1.0, 1.3330078125}), exactly), "");
  EXPECT_EQ(difference(third * third, tensor({0.111083984375, 0.4443359375, 1.0, 1.77734375}), exactly), "");
  EXPECT_EQ((third.astype(DType::bfloat16) + third).dtype(), DType::float32);
}

TEST(Arithmetic, BoolsAddAsOrAndMultiplyAsAnd) {
  const Tensor a = tensor({true, true, false, false});
  const Tensor b = tensor({true, false, true, false});
  EXPECT_TRUE(identical(a + b, tensor({true, true, true, false})));
  EXPECT_TRUE(identical(a * b, tensor({true, false, false, false})));
  EXPECT_THROW(static_cast<void>(a - b), DTypeError);
  EXPECT_THROW(static_cast<void>(-a), DTypeError);
  EXPECT_THROW(static_cast<void>(power(a, b)), DTypeError);
}

TEST(Arithmetic, ErrorsNameOperationAndShapes) {
  try {
    static_cast<void>(zeros({2, 3}) * zeros({4, 3}));
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(),
                 "[multiply] shapes do not broadcast: [2, 3] and [4, 3]. Sizes aligned at the last axis must be equal "
                 "or 1.");
  }
}

TEST(Arithmetic, NumbersOutsideOfTheIntegerTypeAreRefused) {
  EXPECT_THROW(static_cast<void>(tensor<std::uint8_t>({1}) + 300), ValueError);
  EXPECT_THROW(static_cast<void>(tensor<std::uint64_t>({1}) * -1), ValueError);
}

TEST(Arithmetic, LargeTensorsHaveTheSameBitsForAnyNumberOfThreads) {
  const Tensor a = linspace(-3, 5, 300'001);
  const Tensor rows = linspace(0, 1, 300'000).reshape({100'000, 3});
  const int before = num_threads();
  set_num_threads(1);
  const Tensor product = a * a + exp(a);
  const Tensor biased = rows + tensor({1.0F, 2.0F, 3.0F});
  set_num_threads(3);
  EXPECT_TRUE(identical(a * a + exp(a), product));
  EXPECT_TRUE(identical(rows + tensor({1.0F, 2.0F, 3.0F}), biased));
  set_num_threads(before);
}

TEST(CompoundAssignment, WritesInPlaceWhereItCan) {
  Tensor x = tensor({1.0F, 2.0F});
  const float* before = x.data<float>().data();
  x += tensor({10.0F, 20.0F});
  x *= 2;
  x -= scalar(2.0F);
  x /= tensor({2.0F});
  EXPECT_TRUE(identical(x, tensor({10.0F, 21.0F})));
  EXPECT_EQ(x.data<float>().data(), before);
}

TEST(CompoundAssignment, LeavesCopiesAlone) {
  Tensor x = tensor({1.0F, 2.0F});
  const Tensor copy = x;
  x += 1;
  EXPECT_TRUE(identical(x, tensor({2.0F, 3.0F})));
  EXPECT_TRUE(identical(copy, tensor({1.0F, 2.0F})));
}

TEST(CompoundAssignment, TakesItselfAndItsOwnSlices) {
  Tensor x = tensor({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2});
  x += x[1];
  EXPECT_TRUE(identical(x, tensor({4.0F, 6.0F, 6.0F, 8.0F}, {2, 2})));
  const Tensor& itself = x;
  x *= itself;
  EXPECT_TRUE(identical(x, tensor({16.0F, 36.0F, 36.0F, 64.0F}, {2, 2})));
  x -= itself;
  EXPECT_TRUE(identical(x, zeros({2, 2})));
}

TEST(CompoundAssignment, MayChangeShapeAndElementType) {
  Tensor x = tensor({1, 2});
  x /= 2;
  EXPECT_TRUE(identical(x, tensor({0.5, 1.0})));
  x += tensor({1.0, 2.0}, {2, 1});
  EXPECT_TRUE(identical(x, tensor({1.5, 2.0, 2.5, 3.0}, {2, 2})));
}

TEST(CompoundAssignment, ReportsShapesUnderTheNameOfTheOperation) {
  Tensor x = zeros({2});
  EXPECT_THROW(x += zeros({3}), ShapeError);
  EXPECT_TRUE(identical(x, zeros({2})));
}

TEST(CompoundAssignment, OfATrackedTensorIsTracked) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({3.0}));
  Tensor y = x;
  y *= y;
  EXPECT_TRUE(identical(tape.gradient(sum(y), {x})[0], tensor({6.0})));
}

TEST(Power, OfFloatingNumbers) {
  const Tensor base = tensor({2.0, -3.0, 0.25, 0.0});
  EXPECT_TRUE(identical(power(base, tensor({10.0, 3.0, -0.5, 0.0})), tensor({1024.0, -27.0, 2.0, 1.0})));
  EXPECT_TRUE(identical(power(base, 2), tensor({4.0, 9.0, 0.0625, 0.0})));
  EXPECT_TRUE(identical(power(2, tensor({3.0, -1.0})), tensor({8.0, 0.5})));
}

TEST(Power, OfIntegers) {
  const Tensor base = tensor({2, -3, 0});
  EXPECT_TRUE(identical(power(base, tensor({10, 3, 0})), tensor({1024, -27, 1})));
  EXPECT_TRUE(identical(power(base, 3), tensor({8, -27, 0})));
  EXPECT_THROW(static_cast<void>(power(base, -1)), ValueError);
  EXPECT_THROW(static_cast<void>(power(base, tensor({1, 1, -1}))), ValueError);
  EXPECT_TRUE(identical(power(tensor({2}), 0.5), tensor({1.4142135623730951})));
}

TEST(Extremes, PropagateNaN) {
  const Tensor a = tensor({1.0, nan, 3.0});
  const Tensor b = tensor({2.0, 2.0, nan});
  EXPECT_EQ(difference(maximum(a, b), tensor({2.0, nan, nan}), exactly), "");
  EXPECT_EQ(difference(minimum(a, b), tensor({1.0, nan, nan}), exactly), "");
  EXPECT_EQ(difference(maximum(a, 2), tensor({2.0, nan, 3.0}), exactly), "");
  EXPECT_EQ(difference(minimum(2, a), tensor({1.0, nan, 2.0}), exactly), "");
  EXPECT_TRUE(identical(maximum(tensor({1, 5}), tensor({3, 2})), tensor({3, 5})));
}

TEST(Extremes, PropagateNaNInLongRows) {
  const Tensor x = linspace(-1, 1, 100);
  Tensor with_nan = x;
  with_nan.mutable_data<float>()[20] = static_cast<float>(nan);
  for (const Tensor& y : {maximum(x, with_nan), maximum(with_nan, x), minimum(x, with_nan), minimum(with_nan, x)}) {
    EXPECT_EQ(difference(y, with_nan, exactly), "");
  }
}

TEST(Clip, LimitsAndKeepsNaN) {
  EXPECT_EQ(difference(clip(tensor({-2.0, 0.5, 3.0, nan}), 0, 1), tensor({0.0, 0.5, 1.0, nan}), exactly), "");
  EXPECT_TRUE(identical(clip(tensor({-2.0, 0.5, 3.0}), 1, 0), zeros({3}, DType::float64)));
  EXPECT_TRUE(identical(clip(tensor({-2, 1, 3}), 0, 2), tensor({0, 1, 2})));
}

TEST(Unary, SignAbsAndSquare) {
  EXPECT_EQ(difference(sign(tensor({-2.0, 0.0, 3.0, nan})), tensor({-1.0, 0.0, 1.0, nan}), exactly), "");
  EXPECT_TRUE(identical(sign(tensor({-2, 0, 3})), tensor({-1, 0, 1})));
  EXPECT_TRUE(identical(abs(tensor({-2.0F, 3.0F})), tensor({2.0F, 3.0F})));
  EXPECT_TRUE(identical(square(tensor({-2.0F, 3.0F})), tensor({4.0F, 9.0F})));
  EXPECT_THROW(static_cast<void>(sign(tensor({true}))), DTypeError);
}

TEST(Unary, FunctionsOfRealNumbers) {
  EXPECT_EQ(difference(exp(numbers),
                       tensor({0.22313016014842982, 0.7788007830714049, 1.0, 1.6487212707001282, 7.38905609893065}),
                       a_few_ulps),
            "");
  EXPECT_EQ(difference(expm1(numbers),
                       tensor({-0.7768698398515702, -0.22119921692859512, 0.0, 0.6487212707001282, 6.38905609893065}),
                       a_few_ulps),
            "");
  EXPECT_EQ(difference(sin(numbers),
                       tensor({-0.9974949866040544, -0.24740395925452294, 0.0, 0.479425538604203, 0.9092974268256817}),
                       a_few_ulps),
            "");
  EXPECT_EQ(difference(cos(numbers),
                       tensor({0.0707372016677029, 0.9689124217106447, 1.0, 0.8775825618903728, -0.4161468365471424}),
                       a_few_ulps),
            "");
  EXPECT_EQ(difference(erf(numbers),
                       tensor({-0.9661051464753108, -0.2763263901682369, 0.0, 0.5204998778130465, 0.9953222650189527}),
                       a_few_ulps),
            "");
  const Tensor positive = tensor({0.25, 1.0, 9.0});
  EXPECT_EQ(difference(log(positive), tensor({-1.3862943611198906, 0.0, 2.1972245773362196}), a_few_ulps), "");
  EXPECT_EQ(
      difference(log1p(positive), tensor({0.22314355131420976, 0.6931471805599453, 2.302585092994046}), a_few_ulps),
      "");
  EXPECT_EQ(difference(sqrt(positive), tensor({0.5, 1.0, 3.0}), exactly), "");
  EXPECT_EQ(difference(rsqrt(positive), tensor({2.0, 1.0, 0.3333333333333333}), exactly), "");
}

TEST(Unary, FunctionsOfIntegersAreFloat64) {
  EXPECT_TRUE(identical(sqrt(tensor({4, 9})), tensor({2.0, 3.0})));
  EXPECT_EQ(exp(tensor({true, false})).dtype(), DType::float64);
}

TEST(Unary, PolesAndDomains) {
  EXPECT_EQ(difference(log(tensor({0.0F, -1.0F})), tensor({-infinity, nan}), exactly), "");
  EXPECT_EQ(difference(sqrt(tensor({-1.0F})), tensor({nan}), exactly), "");
  EXPECT_EQ(difference(rsqrt(tensor({0.0F})), tensor({infinity}), exactly), "");
  EXPECT_EQ(
      difference(exp(tensor({1000.0F, -1000.0F, static_cast<float>(nan)})), tensor({infinity, 0.0, nan}), exactly), "");
}

}  // namespace
}  // namespace strata
