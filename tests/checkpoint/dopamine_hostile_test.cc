// SPDX-License-Identifier: Apache-2.0
// What decode_dopamine does with bytes that no encoder wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "strata/checkpoint/dopamine.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::checkpoint {
namespace {

using namespace std::string_view_literals;
using testing::HasSubstr;

State decode(std::string_view bytes) { return decode_dopamine(std::as_bytes(std::span(bytes))); }

std::string error_of_decode(std::string_view bytes) {
  try {
    (void)decode(bytes);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "no error";
}

std::string encoded_state() {
  const State state{{Path{"a", 0}, Param(arange(3).astype(DType::float32), tagged("t"))},
                    {Path{"a", 1}, BatchStat(ones({2, 3}, DType::bfloat16), Metadata{{"x", 1.5}, {"y", true}})},
                    {Path{"b"}, Variable(zeros({0}, DType::boolean))}};
  std::string text;
  for (const std::byte b : encode_dopamine(state)) text += static_cast<char>(b);
  return text;
}

struct Hostile {
  std::string_view name;
  std::string_view bytes;
  std::string_view message;
};

class HostileBytes : public testing::TestWithParam<Hostile> {};

TEST_P(HostileBytes, AreRefused) {
  EXPECT_THAT(error_of_decode(GetParam().bytes), HasSubstr(std::string(GetParam().message)));
}

constexpr Hostile hostile_messages[] = {
    {"Empty", ""sv, "byte 0: expected a value, but the data end here"},
    {"ReservedByte", "\xc1"sv, "byte 0: expected a value, but no MessagePack value begins"},
    {"ReservedByteInside",
     "\x81\xa1"
     "a\xc1"sv,
     "byte 3: expected a value, but no MessagePack value begins"},
    {"Trailing", "\x80\x80\x80"sv, "byte 1: expected the end of the data, but 2 bytes follow"},
    {"CutText", "\x81\xa5sha"sv, "byte 1: the value that begins here is cut off at the end of the data, byte 5"},
    {"ListBomb", "\xdd\xff\xff\xff\xff"sv, "byte 0: a list of 4294967295 items is announced, but only 0 bytes follow"},
    {"MapBomb", "\xdf\xff\xff\xff\xff"sv, "a map of 4294967295 items is announced"},
    {"DataBomb", "\xc6\xff\xff\xff\xff"sv, "byte 0: the value that begins here is cut off"},
    {"TextBomb", "\xdb\xff\xff\xff\xff\xc0"sv, "byte 0: the value that begins here is cut off"},
    {"ExtensionBomb", "\xc9\xff\xff\xff\xff\x05"sv, "byte 0: the value that begins here is cut off"},
    {"NilValue",
     "\x81\xa1"
     "a\xc0"sv,
     "byte 3, a: expected an array, a number, a map or a list, got nil"},
    {"TextValue", "\xa1z"sv, "got a text"},
    {"BinaryValue", "\xc4\x00"sv, "got binary data"},
    {"ExtensionValue", "\xd4\x05z"sv, "got an extension value"},
    {"KeyTwice",
     "\x82\xa1"
     "a\x01\xa1"
     "a\x02"sv,
     "byte 4: the key a stands twice"},
    {"IntegerKeyTwice", "\x82\x01\x01\xcc\x01\x02"sv, "byte 3: the key 1 stands twice"},
    {"KeyNotUtf8", "\x81\xa1\xff\x01"sv, "byte 1: the text is not UTF-8"},
    {"OverlongUtf8", "\x81\xa2\xc0\x80\x01"sv, "byte 1: the text is not UTF-8"},
    {"FloatKey", "\x81\xca\x00\x00\x00\x00\x01"sv, "a key must be a text or an integer"},
    {"ListKey", "\x81\x90\x01"sv, "a key must be a text or an integer of 64 bits with a sign, not a list"},
    {"HugeIntegerKey", "\x81\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv,
     "a key must be a text or an integer of 64 bits"},
    {"IntegerWord", "\x81\xa7integer\xa2xy"sv, "must be the decimal digits"},
    {"IntegerEmpty", "\x81\xa7integer\xa0"sv, "must be the decimal digits"},
    {"IntegerNil", "\x81\xa7integer\xc0"sv, "`integer` must be a text, not nil"},
};
INSTANTIATE_TEST_SUITE_P(Messages, HostileBytes, testing::ValuesIn(hostile_messages),
                         [](const auto& test) { return std::string(test.param.name); });

// Arrays of shape, data, dtype and what follows.
constexpr Hostile hostile_arrays[] = {
    {"DataShort",
     "\x83\xa5shape\x91\x02\xa4"
     "data\xc4\x01z\xa5"
     "dtype\xa5'|u1'"sv,
     "`data` has 1 bytes, but 2 elements of uint8 take 2"},
    {"DataLong",
     "\x83\xa5shape\x90\xa4"
     "data\xc4\x02zz\xa5"
     "dtype\xa5'|u1'"sv,
     "`data` has 2 bytes, but 1 elements of uint8 take 1"},
    {"DataNil",
     "\x83\xa5shape\x91\x02\xa4"
     "data\xc0\xa5"
     "dtype\xa5'|u1'"sv,
     "`data` must be binary data, not nil"},
    {"ShapeNegative",
     "\x83\xa5shape\x91\xff\xa4"
     "data\xc4\x00\xa5"
     "dtype\xa5'|u1'"sv,
     "`shape` may hold only integers that are not negative"},
    {"ShapeBool",
     "\x83\xa5shape\x91\xc3\xa4"
     "data\xc4\x01z\xa5"
     "dtype\xa5'|u1'"sv,
     "`shape` may hold only integers that are not negative"},
    {"ShapeNumber",
     "\x83\xa5shape\x01\xa4"
     "data\xc4\x01z\xa5"
     "dtype\xa5'|u1'"sv,
     "`shape` must be a list, not an integer"},
    {"ShapeOverflow",
     "\x83\xa5shape\x92\xcf\x80\x00\x00\x00\x00\x00\x00\x00\x02\xa4"
     "data\xc4\x00\xa5"
     "dtype\xa5'|u1'"sv,
     "do not fit 63 bits"},
    {"ShapeBytesOverflow",
     "\x83\xa5shape\x92\xcf\x20\x00\x00\x00\x00\x00\x00\x00\x01\xa4"
     "data\xc4\x00\xa5"
     "dtype\xa5'<f8'"sv,
     "do not fit 63 bits"},
    {"ShapeBytesOverflowTo0",
     "\x83\xa5shape\x91\xcf\x20\x00\x00\x00\x00\x00\x00\x00\xa4"
     "data\xc4\x00\xa5"
     "dtype\xa5'<f8'"sv,
     "do not fit 63 bits"},
    {"OrderWord",
     "\x84\xa5shape\x90\xa4"
     "data\xc4\x01z\xa5"
     "dtype\xa5'|u1'\xa5order\xa1X"sv,
     "`order` must be C or F"},
    {"DTypeObject",
     "\x83\xa5shape\x90\xa4"
     "data\xc4\x08zzzzzzzz\xa5"
     "dtype\xa4'|O'"sv,
     "`dtype` '|O' is not an element type that a tensor holds"},
    {"DTypeRecord",
     "\x83\xa5shape\x90\xa4"
     "data\xc4\x04zzzz\xa5"
     "dtype\xae[('a', '<i4')]"sv,
     "is not an element type that a tensor holds"},
    {"DTypeRawBytes",
     "\x83\xa5shape\x90\xa4"
     "data\xc4\x02zz\xa5"
     "dtype\xad[('', '|V2')]"sv,
     "is not an element type that a tensor holds"},
    {"DTypeBare",
     "\x83\xa5shape\x90\xa4"
     "data\xc4\x04zzzz\xa5"
     "dtype\xa3<f4"sv,
     "is not an element type that a tensor holds"},
    {"DTypeUnclosed",
     "\x83\xa5shape\x90\xa4"
     "data\xc4\x04zzzz\xa5"
     "dtype\xa1'"sv,
     "is not an element type that a tensor holds"},
    {"DTypeNumber",
     "\x83\xa5shape\x90\xa4"
     "data\xc4\x04zzzz\xa5"
     "dtype\x05"sv,
     "`dtype` must be a text, not an integer"},
    {"KindNumber",
     "\x84\xa5shape\x90\xa4"
     "data\xc4\x01z\xa5"
     "dtype\xa5'|u1'\xab"
     "strata.kind\x05"sv,
     "`strata.kind` must be a text, not an integer"},
    {"MetadataEmptyPair",
     "\x84\xa5shape\x90\xa4"
     "data\xc4\x01z\xa5"
     "dtype\xa5'|u1'\xaf"
     "strata.metadata\x91\x90"sv,
     "an item of metadata must be a list of a name and a value"},
    {"MetadataList",
     "\x84\xa5shape\x90\xa4"
     "data\xc4\x01z\xa5"
     "dtype\xa5'|u1'\xaf"
     "strata.metadata\x91\x92\xa1"
     "a\x90"sv,
     "metadata must be a bool, an integer of 64 bits, a float or a text"},
    {"MetadataTwice",
     "\x84\xa5shape\x90\xa4"
     "data\xc4\x01z\xa5"
     "dtype\xa5'|u1'\xaf"
     "strata.metadata\x92\x92\xa1"
     "a\x01\x92\xa1"
     "a\x01"sv,
     "the metadata `a` stands twice"},
};
INSTANTIATE_TEST_SUITE_P(Arrays, HostileBytes, testing::ValuesIn(hostile_arrays),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(DecodeDopamine, RefusesMoreThan1024Levels) {
  EXPECT_EQ(decode(std::string(1023, '\x91') + '\x90').size(), 0);
  EXPECT_THAT(error_of_decode(std::string(1024, '\x91') + '\x90'),
              HasSubstr("byte 1024: lists and maps are more than"));
  EXPECT_THAT(error_of_decode(std::string(1000000, '\x91')), HasSubstr("more than 1024 levels deep"));
}

TEST(DecodeDopamine, RefusesSmallBytesThatMeanALargeState) {
  // Sixty thousand numbers a thousand levels deep: each would have a path of a thousand keys.
  const std::string bytes = std::string(1000, '\x91') + "\xdc\xea\x60" + std::string(60000, '\x01');
  EXPECT_THAT(error_of_decode(bytes), HasSubstr("take many times the memory"));
}

TEST(DecodeDopamine, ShortensLongTextInErrors) {
  const std::string key = "\xda\x03\xe8" + std::string(1000, 'k');
  EXPECT_EQ(error_of_decode("\x81" + key + "\xc0"), "[decode_dopamine] byte 1004, " + std::string(200, 'k') +
                                                        "...: expected an array, a number, a map or a list, got nil.");
}

TEST(DecodeDopamine, RefusesTheFirstBytesOfAState) {
  const std::string whole = encoded_state();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW((void)decode(std::string_view(whole).substr(0, size)), FormatError) << size << " bytes";
  }
}

TEST(DecodeDopamine, NeverDoesOtherThanReturnOrThrowFormatErrorOnFlippedBits) {
  const std::string whole = encoded_state();
  std::uint32_t random = 1;  // a linear congruential generator (Numerical Recipes): the same bytes everywhere
  const auto next = [&random](std::size_t bound) {
    random = random * 1664525u + 1013904223u;
    return static_cast<std::size_t>(random >> 8) % bound;
  };
  int refused = 0;
  for (int run = 0; run < 20000; ++run) {
    std::string bytes = whole;
    for (std::size_t flips = 1 + next(4); flips > 0; --flips) {
      bytes[next(bytes.size())] = static_cast<char>(next(256));
    }
    try {
      (void)decode(bytes);
    } catch (const FormatError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace strata::checkpoint
