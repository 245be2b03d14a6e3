// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/scalar.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace strata {
namespace {

struct Promotion {
  DType tensor;
  std::array<DType, 3> with_bool_integer_floating;
};

// What NumPy 2.4 says of `numpy.zeros(1, dtype) + value` for True, 1 and 1.5; bfloat16 as float16.
constexpr std::array<Promotion, 13> promotions{{
    {DType::boolean, {DType::boolean, DType::int64, DType::float64}},
    {DType::int8, {DType::int8, DType::int8, DType::float64}},
    {DType::int16, {DType::int16, DType::int16, DType::float64}},
    {DType::int32, {DType::int32, DType::int32, DType::float64}},
    {DType::int64, {DType::int64, DType::int64, DType::float64}},
    {DType::uint8, {DType::uint8, DType::uint8, DType::float64}},
    {DType::uint16, {DType::uint16, DType::uint16, DType::float64}},
    {DType::uint32, {DType::uint32, DType::uint32, DType::float64}},
    {DType::uint64, {DType::uint64, DType::uint64, DType::float64}},
    {DType::float16, {DType::float16, DType::float16, DType::float16}},
    {DType::bfloat16, {DType::bfloat16, DType::bfloat16, DType::bfloat16}},
    {DType::float32, {DType::float32, DType::float32, DType::float32}},
    {DType::float64, {DType::float64, DType::float64, DType::float64}},
}};

TEST(Scalar, TakesTheTypeOfTheTensorUnlessOfAHigherKind) {
  for (const Promotion& expected : promotions) {
    const auto& [of_bool, of_integer, of_floating] = expected.with_bool_integer_floating;
    EXPECT_EQ(Scalar(true).promote_with(expected.tensor), of_bool) << expected.tensor;
    EXPECT_EQ(Scalar(1).promote_with(expected.tensor), of_integer) << expected.tensor;
    EXPECT_EQ(Scalar(1.5F).promote_with(expected.tensor), of_floating) << expected.tensor;
  }
}

TEST(Scalar, KeepsEveryIntegerOf64Bits) {
  EXPECT_EQ(Scalar(std::numeric_limits<std::int64_t>::min()).as<std::int64_t>(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Scalar(std::numeric_limits<std::uint64_t>::max()).as<std::uint64_t>(),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(Scalar, FitsTellsTheRangeOfIntegerTypes) {
  EXPECT_TRUE(Scalar(255).fits(DType::uint8));
  EXPECT_FALSE(Scalar(256).fits(DType::uint8));
  EXPECT_FALSE(Scalar(-1).fits(DType::uint64));
  EXPECT_TRUE(Scalar(std::numeric_limits<std::uint64_t>::max()).fits(DType::uint64));
  EXPECT_FALSE(Scalar(std::numeric_limits<std::uint64_t>::max()).fits(DType::int64));
  EXPECT_TRUE(Scalar(100000).fits(DType::float16));
}

TEST(Scalar, PrintsAsTheNumberItIs) {
  EXPECT_EQ(to_string(Scalar(300)), "300");
  EXPECT_EQ(to_string(Scalar(1.5)), "1.5");
  EXPECT_EQ(to_string(Scalar(true)), "true");
  EXPECT_EQ(to_string(Scalar(-0.0)), "-0");
  EXPECT_EQ(to_string(Scalar(-std::numeric_limits<double>::infinity())), "-inf");
  for (const double nan : {std::nan(""), -std::nan("")}) EXPECT_EQ(to_string(Scalar(nan)), "nan");
}

}  // namespace
}  // namespace strata
