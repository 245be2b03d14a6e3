// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/dtype.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "strata/tensor/error.h"

namespace strata {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(DTypeName, IsThatOfNumPyAndLeadsBack) {
  EXPECT_EQ(name(DType::boolean), "bool");
  EXPECT_EQ(name(DType::uint16), "uint16");
  EXPECT_EQ(name(DType::bfloat16), "bfloat16");
  for (const DType dtype : all_dtypes) EXPECT_EQ(dtype_from_name(name(dtype)), dtype);
}

TEST(DTypeName, OfNoElementTypeIsAnError) {
  EXPECT_THROW(static_cast<void>(dtype_from_name("float128")), ValueError);
  EXPECT_THROW(static_cast<void>(dtype_from_name("")), ValueError);
}

TEST(DType, KnowsItsFamilyAndSize) {
  EXPECT_TRUE(is_floating(DType::bfloat16));
  for (const DType dtype : all_dtypes) {
    EXPECT_EQ(is_two_byte_float(dtype), dtype == DType::float16 || dtype == DType::bfloat16) << dtype;
    EXPECT_EQ(computing_dtype(dtype), is_two_byte_float(dtype) ? DType::float32 : dtype) << dtype;
  }
  EXPECT_FALSE(is_floating(DType::int64));
  EXPECT_TRUE(is_integer(DType::uint8));
  EXPECT_FALSE(is_integer(DType::boolean));
  EXPECT_FALSE(is_signed_integer(DType::uint8));
  for (const DType dtype : all_dtypes) {
    dispatch(dtype, [&]<class T>(T) {
      EXPECT_EQ(dtype_of<T>, dtype);
      EXPECT_EQ(static_cast<std::size_t>(size_in_bytes(dtype)), sizeof(T)) << dtype;
    });
  }
}

// numpy.promote_types for every pair; bfloat16, which NumPy lacks, is tested apart.
TEST(Promote, FollowsNumPy) {
  constexpr DType b = DType::boolean, i1 = DType::int8, i2 = DType::int16, i4 = DType::int32, i8 = DType::int64;
  constexpr DType u1 = DType::uint8, u2 = DType::uint16, u4 = DType::uint32, u8 = DType::uint64;
  constexpr DType f2 = DType::float16, f4 = DType::float32, f8 = DType::float64;
  constexpr std::array<DType, 12> order{b, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4, f8};
  constexpr std::array<std::array<DType, 12>, 12> expected{{
      {b, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4, f8},
      {i1, i1, i2, i4, i8, i2, i4, i8, f8, f2, f4, f8},
      {i2, i2, i2, i4, i8, i2, i4, i8, f8, f4, f4, f8},
      {i4, i4, i4, i4, i8, i4, i4, i8, f8, f8, f8, f8},
      {i8, i8, i8, i8, i8, i8, i8, i8, f8, f8, f8, f8},
      {u1, i2, i2, i4, i8, u1, u2, u4, u8, f2, f4, f8},
      {u2, i4, i4, i4, i8, u2, u2, u4, u8, f4, f4, f8},
      {u4, i8, i8, i8, i8, u4, u4, u4, u8, f8, f8, f8},
      {u8, f8, f8, f8, f8, u8, u8, u8, u8, f8, f8, f8},
      {f2, f2, f4, f8, f8, f2, f4, f8, f8, f2, f4, f8},
      {f4, f4, f4, f8, f8, f4, f4, f8, f8, f4, f4, f8},
      {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8},
  }};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j < order.size(); ++j) {
      EXPECT_EQ(promote(order[i], order[j]), expected[i][j]) << order[i] << " and " << order[j];
    }
  }
}

TEST(Promote, TreatsBFloat16AsFloat16) {
  EXPECT_EQ(promote(DType::bfloat16, DType::bfloat16), DType::bfloat16);
  EXPECT_EQ(promote(DType::bfloat16, DType::float16), DType::float32);
  EXPECT_EQ(promote(DType::bfloat16, DType::float32), DType::float32);
  EXPECT_EQ(promote(DType::int8, DType::bfloat16), DType::bfloat16);
  EXPECT_EQ(promote(DType::bfloat16, DType::int16), DType::float32);
  EXPECT_EQ(promote(DType::boolean, DType::bfloat16), DType::bfloat16);
}

// Bits from numpy.float16.
TEST(Float16, RoundsToNearestEven) {
  EXPECT_EQ(Float16(1.0f).bits, 15360);
  EXPECT_EQ(Float16(65504.0f).bits, 31743);
  EXPECT_EQ(Float16(65520.0f).bits, 31744);  // infinity
  EXPECT_EQ(Float16(6e-8f).bits, 1);         // the smallest subnormal
  EXPECT_EQ(Float16(1.0f / 3.0f).bits, 13653);
  EXPECT_EQ(Float16(-0.0f).bits, 32768);
  EXPECT_EQ(Float16(2049.0f).bits, 26624);
  EXPECT_EQ(Float16(2051.0f).bits, 26626);
}

TEST(Float16, EveryNumberLeadsBack) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float value = static_cast<float>(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(Float16(value))));
    } else {
      EXPECT_EQ(Float16(value).bits, bits);
    }
  }
}

// Bits from ml_dtypes.bfloat16.
TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(BFloat16(1.0f).bits, 16256);
  EXPECT_EQ(BFloat16(1.0f / 3.0f).bits, 16043);
  EXPECT_EQ(BFloat16(-2.5f).bits, 49184);
  EXPECT_EQ(BFloat16(3.4e38f).bits, 32640);  // infinity
  EXPECT_EQ(BFloat16(1.00390625f).bits, 16256);
  EXPECT_EQ(BFloat16(1.01171875f).bits, 16258);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(ConvertElement, SaturatesFloatsAtTheEndsOfIntegers) {
  EXPECT_EQ(convert_element<std::int8_t>(1000.0), 127);
  EXPECT_EQ(convert_element<std::int8_t>(-1000.0f), -128);
  EXPECT_EQ(convert_element<std::uint8_t>(-1.0), 0);
  EXPECT_EQ(convert_element<std::int64_t>(1e300), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(convert_element<std::int64_t>(9223372036854775808.0), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(convert_element<std::int32_t>(2147483648.0f), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(convert_element<std::uint64_t>(infinity), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(convert_element<std::int32_t>(-infinity), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(convert_element<std::int32_t>(nan), 0);
}

TEST(ConvertElement, GoesTowardsZero) {
  EXPECT_EQ(convert_element<std::int32_t>(2.9), 2);
  EXPECT_EQ(convert_element<std::int32_t>(-2.9f), -2);
  EXPECT_EQ(convert_element<std::uint8_t>(255.9), 255);
}

TEST(ConvertElement, ToBoolIsWhetherItIsNotZero) {
  EXPECT_TRUE(convert_element<bool>(0.5));
  EXPECT_TRUE(convert_element<bool>(nan));
  EXPECT_FALSE(convert_element<bool>(-0.0f));
  EXPECT_TRUE(convert_element<bool>(std::int8_t{-1}));
  EXPECT_FALSE(convert_element<bool>(Float16(-0.0f)));
}

}  // namespace
}  // namespace strata
