// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/numpy_dtype.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace strata::checkpoint::internal {
namespace {

// repr(numpy.dtype(name).str), for bfloat16 repr(numpy.dtype(ml_dtypes.bfloat16).descr), with NumPy 2.4.6 and ml_dtypes
// 0.6.0.
constexpr std::array<std::pair<DType, const char*>, 13> texts_of_numpy{{
    {DType::boolean, "'|b1'"},
    {DType::int8, "'|i1'"},
    {DType::int16, "'<i2'"},
    {DType::int32, "'<i4'"},
    {DType::int64, "'<i8'"},
    {DType::uint8, "'|u1'"},
    {DType::uint16, "'<u2'"},
    {DType::uint32, "'<u4'"},
    {DType::uint64, "'<u8'"},
    {DType::float16, "'<f2'"},
    {DType::bfloat16, "[('', '<V2')]"},
    {DType::float32, "'<f4'"},
    {DType::float64, "'<f8'"},
}};

TEST(NumpyText, IsWhatNumPyPrints) {
  for (const auto& [dtype, text] : texts_of_numpy) EXPECT_EQ(numpy_text(dtype), text);
}

TEST(ParseNumpyText, ReadsWhatNumPyPrints) {
  for (const auto& [dtype, text] : texts_of_numpy) {
    EXPECT_EQ(parse_numpy_text(text), (NumpyDType{.dtype = dtype, .swapped = false})) << text;
  }
}

TEST(ParseNumpyText, SeesTheOtherByteOrderOfTypesThatHaveOne) {
  EXPECT_EQ(parse_numpy_text("'>f4'"), (NumpyDType{.dtype = DType::float32, .swapped = true}));
  EXPECT_EQ(parse_numpy_text("[('', '>V2')]"), (NumpyDType{.dtype = DType::bfloat16, .swapped = true}));
  EXPECT_EQ(parse_numpy_text("'>u1'"), (NumpyDType{.dtype = DType::uint8, .swapped = false}));
}

TEST(ParseNumpyText, TakesOtherSpellingsOfTheSame) {
  for (const char* text : {"\"<f4\"", " '<f4' ", "'=f4'", "'|f4'", "'f4'"}) {
    EXPECT_EQ(parse_numpy_text(text), (NumpyDType{.dtype = DType::float32, .swapped = false})) << text;
  }
}

TEST(ParseNumpyText, RefusesEverythingElse) {
  for (const char* text : {"", "'", "''", "'<'", "<f4", "'<f4", "'<f4\"", "'<<f4'", "'<f44'", "'<f3'", "'<c8'", "'|O'",
                           "'|V2'", "[('', '|V2')]", "[('a', '<f4')]", "'float32'", "None", "'<f4' '<f4'"}) {
    EXPECT_EQ(parse_numpy_text(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace strata::checkpoint::internal
