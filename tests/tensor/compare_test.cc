// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/compare.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/reduce.h"
#include "support/gradient_check.h"

namespace strata {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Comparison, OfTensors) {
  const Tensor a = tensor({1.0, 2.0, 3.0, nan});
  const Tensor b = tensor({2.0, 2.0, 2.0, nan});
  EXPECT_TRUE(identical(a < b, tensor({true, false, false, false})));
  EXPECT_TRUE(identical(a <= b, tensor({true, true, false, false})));
  EXPECT_TRUE(identical(a > b, tensor({false, false, true, false})));
  EXPECT_TRUE(identical(a >= b, tensor({false, true, true, false})));
  EXPECT_TRUE(identical(equal(a, b), tensor({false, true, false, false})));
  EXPECT_TRUE(identical(not_equal(a, b), tensor({true, false, true, true})));
}

TEST(Comparison, WithNumbersOnEitherSide) {
  const Tensor x = tensor({1, 2, 3});
  EXPECT_TRUE(identical(x < 2, tensor({true, false, false})));
  EXPECT_TRUE(identical(2 < x, tensor({false, false, true})));
  EXPECT_TRUE(identical(x >= 2, tensor({false, true, true})));
  EXPECT_TRUE(identical(2 >= x, tensor({true, true, false})));
  EXPECT_TRUE(identical(x <= 1.5, tensor({true, false, false})));
  EXPECT_TRUE(identical(equal(x, 2), tensor({false, true, false})));
}

TEST(Comparison, BroadcastsAndPromotes) {
  EXPECT_TRUE(identical(tensor({1, 2}, {2, 1}) < tensor({1.5, 2.5}), tensor({true, true, false, true}, {2, 2})));
  EXPECT_TRUE(identical(equal(tensor({true, false}), tensor({1, 1})), tensor({true, false})));
  EXPECT_EQ((zeros({0, 2}) < 1).shape(), (Shape{0, 2}));
  EXPECT_THROW(static_cast<void>(zeros({2}) < zeros({3})), ShapeError);
}

// As NumPy 2 compares Python's integers.
TEST(Comparison, TakesNumbersOutsideOfTheIntegerType) {
  EXPECT_TRUE(identical(tensor<std::uint8_t>({0, 255}) < 300, tensor({true, true})));
  EXPECT_TRUE(identical(tensor<std::uint64_t>({0, 5}) > -1, tensor({true, true})));
  EXPECT_TRUE(identical(equal(tensor<std::int8_t>({-1}), std::numeric_limits<std::uint64_t>::max()), tensor({false})));
}

TEST(Comparison, OfTwoByteFloats) {
  const Tensor x = tensor({1.0F, 2.0F}).astype(DType::float16);
  EXPECT_TRUE(identical(x < 1.5, tensor({true, false})));
}

TEST(Comparison, IsNotTracked) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({1.0F, 2.0F}).astype(DType::float16));
  EXPECT_FALSE((x < 1.5).is_tracked());
  EXPECT_FALSE(is_finite(x).is_tracked());
}

TEST(Logical, TreatsNumbersAsTrueWhereNotZero) {
  const Tensor a = tensor({0, 2, 0, 3});
  const Tensor b = tensor({0.0, 0.0, 0.5, -1.0});
  EXPECT_TRUE(identical(logical_and(a, b), tensor({false, false, false, true})));
  EXPECT_TRUE(identical(logical_or(a, b), tensor({false, true, true, true})));
  EXPECT_TRUE(identical(logical_not(b), tensor({true, true, false, false})));
}

TEST(Finite, ToldFromInfinityAndNaN) {
  const Tensor x = tensor({1.0, infinity, -infinity, nan});
  EXPECT_TRUE(identical(is_finite(x), tensor({true, false, false, false})));
  EXPECT_TRUE(identical(is_nan(x), tensor({false, false, false, true})));
  EXPECT_TRUE(identical(is_finite(tensor({1})), tensor({true})));
}

TEST(Where, ChoosesElementsOfEveryWidth) {
  const Tensor condition = tensor({true, false});
  EXPECT_TRUE(identical(where(condition, tensor({1, 2}), tensor({3, 4})), tensor({1, 4})));
  EXPECT_TRUE(identical(where(condition, tensor({1.0, 2.0}), tensor({3.0, 4.0})), tensor({1.0, 4.0})));
  EXPECT_TRUE(identical(where(condition, tensor({true, true}), tensor({false, false})), tensor({true, false})));
  const Tensor half = tensor({1.0F, 2.0F}).astype(DType::float16);
  EXPECT_TRUE(identical(where(condition, half, 0), tensor({1.0F, 0.0F}).astype(DType::float16)));
}

TEST(Where, BroadcastsAllThree) {
  const Tensor condition = tensor({true, false}, {2, 1});
  EXPECT_TRUE(identical(where(condition, tensor({1, 2, 3}), scalar(0)), tensor({1, 2, 3, 0, 0, 0}, {2, 3})));
  EXPECT_TRUE(identical(where(scalar(false), 1, tensor({2, 3})), tensor({2, 3})));
  EXPECT_EQ(where(zeros({0, 1}), zeros({3}), 1).shape(), (Shape{0, 3}));
  EXPECT_THROW(static_cast<void>(where(condition, zeros({2}), zeros({3}))), ShapeError);
}

TEST(Where, PromotesTheBranchesAndTakesNumbersAsConditions) {
  EXPECT_TRUE(identical(where(tensor({0.0, 2.0}), tensor({1, 2}), tensor({0.5, 1.5})), tensor({0.5, 2.0})));
  EXPECT_TRUE(identical(where(tensor({true}), tensor({1}), 0.5), tensor({1.0})));
  EXPECT_THROW(static_cast<void>(where(tensor({true}), tensor<std::uint8_t>({1}), 256)), ValueError);
}

TEST(Where, HasTheGradientOfTheChosenBranch) {
  const Tensor condition = tensor({true, false, false, true, true, false}, {2, 3});
  support::expect_gradients_match([&](const Tensor& a, const Tensor& b) { return where(condition, a * a, b * 3); },
                                  tensor({0.7, -1.3, 2.1}), tensor({1.1, 0.6}, {2, 1}));
  support::expect_gradients_match([&](const Tensor& a) { return where(condition, a, 2) + where(condition, 1, a); },
                                  tensor({0.7, -1.3, 2.1}));
}

TEST(Where, IsNotPoisonedByTheBranchNotTaken) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({0.0, 4.0}));
  const Tensor y = where(x > 0, sqrt(where(x > 0, x, 1)), 0);
  const Tensor inverse = where(x > 0, tensor({1.0, 1.0}), tape.watch(tensor({nan, nan})));
  EXPECT_TRUE(identical(tape.gradient(sum(y * inverse), {x})[0], tensor({0.0, 0.25})));
}

TEST(AllClose, ComparesWithinTolerances) {
  EXPECT_TRUE(all_close(tensor({1.0, 100.0}), tensor({1.000001, 100.0005})));
  EXPECT_FALSE(all_close(tensor({1.0}), tensor({1.0001})));
  EXPECT_TRUE(all_close(tensor({1.0}), tensor({1.0001}), 0, 1e-3));
  EXPECT_TRUE(all_close(tensor({1, 2}), tensor({1.0, 2.0})));
  EXPECT_TRUE(all_close(zeros({2, 2}), scalar(0.0F)));
  EXPECT_TRUE(all_close(zeros({0}), zeros({0})));
}

TEST(AllClose, OfInfinitiesAndNaN) {
  EXPECT_TRUE(all_close(tensor({infinity}), tensor({infinity})));
  EXPECT_FALSE(all_close(tensor({infinity}), tensor({-infinity})));
  EXPECT_FALSE(all_close(tensor({1.0}), tensor({infinity})));
  EXPECT_FALSE(all_close(tensor({infinity}), tensor({1.0})));
  EXPECT_FALSE(all_close(tensor({nan}), tensor({nan})));
}

}  // namespace
}  // namespace strata
