// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/create.h"

#include <gtest/gtest.h>

#include <limits>

#include "strata/tensor/error.h"

namespace strata {
namespace {

TEST(Create, ZerosAndOnesAreFloat32UnlessSaidOtherwise) {
  EXPECT_TRUE(identical(zeros({2}), tensor({0.0F, 0.0F})));
  EXPECT_TRUE(identical(ones({2}, DType::int8), tensor<std::int8_t>({1, 1})));
  EXPECT_TRUE(identical(ones({2}, DType::boolean), tensor({true, true})));
  EXPECT_EQ(ones({}, DType::float16).at<float>({}), 1.0F);
}

TEST(Create, EmptyShapesHaveNoElements) { EXPECT_EQ(zeros({0, 3}).size(), 0); }

TEST(Create, FullHoldsTheNumberInTheElementType) {
  EXPECT_TRUE(identical(full({2}, 2.5), tensor({2.5F, 2.5F})));
  EXPECT_TRUE(identical(full({1}, 2.9, DType::int32), tensor({2})));
  EXPECT_THROW(static_cast<void>(full({1}, 300, DType::uint8)), ValueError);
}

TEST(Create, LikeTakesShapeAndElementType) {
  const Tensor x = tensor<std::int16_t>({5, 6}, {2, 1});
  EXPECT_TRUE(identical(zeros_like(x), tensor<std::int16_t>({0, 0}, {2, 1})));
  EXPECT_TRUE(identical(ones_like(x), tensor<std::int16_t>({1, 1}, {2, 1})));
  EXPECT_TRUE(identical(full_like(x, 7), tensor<std::int16_t>({7, 7}, {2, 1})));
}

TEST(Arange, CountsUpAndDownBeforeItsEnd) {
  EXPECT_TRUE(identical(arange(3), tensor<std::int64_t>({0, 1, 2})));
  EXPECT_TRUE(identical(arange(1, 6, 2), tensor<std::int64_t>({1, 3, 5})));
  EXPECT_TRUE(identical(arange(5, -4, -3), tensor<std::int64_t>({5, 2, -1})));
  EXPECT_EQ(arange(3, 1).size(), 0);
  EXPECT_EQ(arange(0).shape(), Shape{0});
  EXPECT_THROW(static_cast<void>(arange(0, 5, 0)), ValueError);
}

TEST(Arange, RefusesMoreNumbersThanCanBeCounted) {
  constexpr Index lowest = std::numeric_limits<Index>::min();
  EXPECT_THROW(static_cast<void>(arange(lowest, std::numeric_limits<Index>::max())), ShapeError);
}

TEST(Arange, SpansTheWholeRangeOfIntegers) {
  constexpr Index lowest = std::numeric_limits<Index>::min();
  constexpr Index highest = std::numeric_limits<Index>::max();
  EXPECT_TRUE(identical(arange(lowest, highest, highest), tensor<std::int64_t>({lowest, -1, highest - 1})));
  EXPECT_TRUE(identical(arange(highest, lowest, lowest), tensor<std::int64_t>({highest, -1})));
}

TEST(Linspace, HasBothEnds) {
  EXPECT_TRUE(identical(linspace(-1, 2, 4), tensor({-1.0F, 0.0F, 1.0F, 2.0F})));
  EXPECT_TRUE(identical(linspace(0.1, 5, 1, DType::float64), tensor({0.1})));
  EXPECT_EQ(linspace(0, 0.3, 4, DType::float64).at<double>({-1}), 0.3);
  EXPECT_EQ(linspace(0, 1, 0).size(), 0);
  EXPECT_THROW(static_cast<void>(linspace(0, 1, -1)), ValueError);
  EXPECT_THROW(static_cast<void>(linspace(0, 1, 3, DType::int32)), DTypeError);
}

TEST(Eye, HasOnesOnTheDiagonal) {
  EXPECT_TRUE(identical(eye(2), tensor({1.0F, 0.0F, 0.0F, 1.0F}, {2, 2})));
  EXPECT_TRUE(identical(eye(1, DType::boolean), tensor({true}, {1, 1})));
  EXPECT_EQ(eye(0).shape(), (Shape{0, 0}));
}

}  // namespace
}  // namespace strata
