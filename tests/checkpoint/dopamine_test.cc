// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/dopamine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/state/kind_registry.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::checkpoint {
namespace {

using namespace std::string_view_literals;
using testing::AllOf;
using testing::HasSubstr;

// Bytes called Dopamine's were written by dopamine-rl 4.1.2 with msgpack 1.2.4, NumPy 2.4.6 and ml_dtypes 0.6.0:
// msgpack.packb(tree, default=dopamine.jax.serialization.encode, strict_types=False, use_bin_type=True).

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string encode(const State& state) {
  std::string text;
  for (const std::byte b : encode_dopamine(state)) text += static_cast<char>(b);
  return text;
}

State decode(std::string_view bytes, DopamineOptions options = {}) { return decode_dopamine(as_bytes(bytes), options); }

State round_trip(const State& state) { return decode_dopamine(encode_dopamine(state)); }

std::string error_of_decode(std::string_view bytes) {
  try {
    (void)decode(bytes);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of_encode(const State& state) {
  try {
    (void)encode_dopamine(state);
  } catch (const StateError& error) {
    return error.what();
  }
  return "no error";
}

// An array of one float32 that is 1, for places where any array will do.
constexpr auto one_array =
    "\x83\xa5shape\x90\xa4"
    "data\xc4\x04\x00\x00\x80\x3f\xa5"
    "dtype\xa5'<f4'"sv;

struct Adapter : Param {
  STRATA_KIND(Adapter, Param)
};
struct UnregisteredKind : Param {
  STRATA_KIND(UnregisteredKind, Param)
};

// {'w': np.array([[1, -2], [.5, 0]], '<f4')}
constexpr auto matrix_of_dopamine =
    "\x81\xa1w\x84\xa5shape\x92\x02\x02\xa4"
    "data\xc4\x10\x00\x00\x80?\x00\x00\x00\xc0\x00\x00\x00?\x00\x00\x00\x00\xa5"
    "dtype\xa5'<f4'\xa5order\xa1"
    "C"sv;

TEST(EncodeDopamine, WritesAMatrixAsDopamineDoes) {
  const State state{{Path{"w"}, Variable(tensor<float>({1, -2, 0.5f, 0}, {2, 2}))}};
  EXPECT_EQ(encode(state), matrix_of_dopamine);
}

// {3: {-1: np.array([True, False])}, 'a': {'b': np.int32(7), 'c': np.zeros((0, 3), '<f8')}, 'é/x': np.array([9], 'u8')}
constexpr auto tree_of_dopamine =
    "\x83\x03\x81\xff\x83\xa5shape\x91\x02\xa4"
    "data\xc4\x02\x01\x00\xa5"
    "dtype\xa5'|b1'\xa1"
    "a\x82\xa1"
    "b\x83\xa5shape\x90\xa4"
    "data\xc4\x04\x07\x00\x00\x00\xa5"
    "dtype\xa5'<i4'\xa1"
    "c\x83\xa5shape\x92\x00\x03\xa4"
    "data\xc4\x00\xa5"
    "dtype\xa5'<f8'\xa4\xc3\xa9/x\x83\xa5shape\x91\x01\xa4"
    "data\xc4\x08\t\x00\x00\x00\x00\x00\x00\x00\xa5"
    "dtype\xa5'<u8'"sv;

State tree() {
  return State{{Path{3, -1}, Variable(tensor<bool>({true, false}))},
               {Path{"a", "b"}, Variable(scalar<std::int32_t>(7))},
               {Path{"a", "c"}, Variable(zeros({0, 3}, DType::float64))},
               {Path{"\xc3\xa9/x"}, Variable(tensor<std::uint64_t>({9}))}};
}

TEST(EncodeDopamine, WritesNestedMapsWithIntegerAndTextKeysAsDopamineDoes) {
  EXPECT_EQ(encode(tree()), tree_of_dopamine);
}

TEST(DecodeDopamine, ReadsNestedMapsWithIntegerAndTextKeys) { EXPECT_EQ(decode(tree_of_dopamine), tree()); }

// {'w': np.array([1.5, -2], ml_dtypes.bfloat16)}
constexpr auto bfloat16_of_dopamine =
    "\x81\xa1w\x83\xa5shape\x91\x02\xa4"
    "data\xc4\x04\xc0?\x00\xc0\xa5"
    "dtype\xad[('', '<V2')]"sv;

TEST(EncodeDopamine, WritesBFloat16AsDopamineDoes) {
  const State state{{Path{"w"}, Variable(tensor({BFloat16(1.5f), BFloat16(-2.0f)}))}};
  EXPECT_EQ(encode(state), bfloat16_of_dopamine);
  EXPECT_EQ(decode(bfloat16_of_dopamine), state);
}

TEST(EncodeDopamine, WritesAnEmptyStateAsAnEmptyMap) {
  EXPECT_EQ(encode(State()), "\x80");
  EXPECT_EQ(decode("\x80"), State());
}

TEST(EncodeDopamine, WritesAVariableAtTheRootAsItsArray) {
  const State state{{Path(), Variable(scalar(1.0f))}};
  EXPECT_EQ(encode(state), one_array);
  EXPECT_EQ(decode(one_array), state);
}

TEST(EncodeDopamine, PutsKindAndMetadataBehindWhatDopamineReads) {
  const State state{{Path(), BatchStat(scalar(true), Metadata{{"decay", 1.0}, {"tag", std::string("ema")}})}};
  EXPECT_EQ(encode(state),
            "\x85\xa5shape\x90\xa4"
            "data\xc4\x01\x01\xa5"
            "dtype\xa5'|b1'\xab"
            "strata.kind\xa9"
            "BatchStat\xaf"
            "strata.metadata\x92\x92\xa5"
            "decay\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00\x92\xa3tag\xa3"
            "ema"sv);
}

TEST(DopamineRoundTrip, KeepsEveryElementType) {
  std::vector<State::Entry> entries;
  for (int i = 0; i <= static_cast<int>(DType::float64); ++i) {
    const auto dtype = static_cast<DType>(i);
    const Path path{std::string(name(dtype))};
    entries.push_back({path / "matrix", Variable(arange(6).astype(dtype).reshape({2, 3}))});
    entries.push_back({path / "empty", Variable(zeros({2, 0, 3}, dtype))});
    entries.push_back({path / "scalar", Variable(ones({}, dtype))});
  }
  const State state(entries);
  EXPECT_EQ(round_trip(state), state);
}

TEST(DopamineRoundTrip, KeepsTheLongestShapeWithoutElements) {
  constexpr Index longest = std::numeric_limits<Index>::max();
  const State state{{Path{"x"}, Variable(zeros({0, longest}, DType::float64))},
                    {Path{"y"}, Variable(zeros({longest, 0}, DType::int8))}};
  EXPECT_EQ(round_trip(state), state);
}

TEST(DopamineRoundTrip, KeepsTheBitsOfNaN) {
  const State state{{Path{"x"}, Variable(tensor({std::numeric_limits<float>::quiet_NaN(), -0.0f}))}};
  EXPECT_EQ(round_trip(state), state);
}

TEST(DopamineRoundTrip, KeepsOddKeys) {
  const State state{{Path{"", "a/b", "'", "\xf0\x9f\x90\x8d"}, Variable(scalar(1.0f))},
                    {Path{std::string(70000, 'k'), 0}, Variable(scalar(2.0f))},
                    {Path{"1"}, Variable(scalar(3.0f))},
                    {Path{1}, Variable(scalar(4.0f))},
                    {Path{std::numeric_limits<Index>::max()}, Variable(scalar(5.0f))},
                    {Path{std::numeric_limits<Index>::min()}, Variable(scalar(6.0f))},
                    {Path{"shape"}, Variable(scalar(7.0f))},
                    {Path{"data"}, Variable(scalar(8.0f))}};
  EXPECT_EQ(round_trip(state), state);
}

TEST(DopamineRoundTrip, KeepsKindsAndMetadata) {
  register_kind(kind_of<Adapter>());
  const State state{{Path{"a"}, Param(ones({2}))},
                    {Path{"b"}, Adapter(ones({2}), tagged("lora"))},
                    {Path{"c"}, Variable(ones({2}), Metadata{{"integer", Index{-7}}, {"dtype", true}})},
                    {Path{"d"}, OptArray(ones({2}), Metadata{{"whole", 3.0}, {"empty", std::string()}})}};
  EXPECT_EQ(round_trip(state), state);
}

TEST(EncodeDopamine, RefusesAKindThatIsNotRegistered) {
  EXPECT_EQ(error_of_encode(State{{Path{"a", "b"}, UnregisteredKind(ones({2}))}}),
            "[encode_dopamine] Dopamine's encoding cannot hold the state: a/b (its kind UnregisteredKind is not "
            "registered and would be lost: call register_kind(kind_of<UnregisteredKind>())).");
}

// {'w': an array of one float32 that is 1, with "strata.kind": "NoSuchKind"}
TEST(DecodeDopamine, GivesAVariableOfAKindItDoesNotKnow) {
  const State state = decode(
      "\x81\xa1w\x84\xa5shape\x90\xa4"
      "data\xc4\x04\x00\x00\x80\x3f\xa5"
      "dtype\xa5'<f4'\xabstrata.kind\xaaNoSuchKind"sv);
  EXPECT_EQ(state, (State{{Path{"w"}, Variable(scalar(1.0F))}}));
}

TEST(DopamineRoundTrip, KeepsTheDeepestPath) {
  const State state{{Path(std::vector<Key>(1021, Key("k"))), Param(ones({2}), tagged("t"))}};
  EXPECT_EQ(round_trip(state), state);
}

TEST(EncodeDopamine, RefusesADeeperPath) {
  const State state{{Path(std::vector<Key>(1022, Key("k"))), Param(ones({2}))}};
  EXPECT_THAT(error_of_encode(state), HasSubstr("a path of 1022 keys, at most 1021 fit"));
}

TEST(EncodeDopamine, RefusesWhatDopamineWouldTakeForSomethingElse) {
  const Variable one(scalar(1.0f));
  EXPECT_EQ(error_of_encode(State{{Path{"a", "integer"}, one},
                                  {Path{"b", "data"}, one},
                                  {Path{"b", "dtype", 0}, one},
                                  {Path{"b", "shape"}, one}}),
            "[encode_dopamine] Dopamine's encoding cannot hold the state: a (with the key integer it reads as a "
            "number), b (with the keys shape, data and dtype it reads as an array).");
}

TEST(EncodeDopamine, RefusesTextThatIsNotUtf8) {
  EXPECT_THAT(error_of_encode(State{{Path{"a\xff"}, Variable(scalar(1.0f))}}), HasSubstr("a key is not UTF-8"));
  EXPECT_THAT(error_of_encode(State{{Path{"a"}, Variable(scalar(1.0f), tagged("\xed\xa0\x80"))}}),
              HasSubstr("a (a text of the metadata is not UTF-8)"));
}

TEST(EncodeDopamine, RefusesMoreAxesThanNumPyHas) {
  const State state{{Path{"a"}, Variable(ones(Shape(std::vector<Index>(33, 1))))}};
  EXPECT_THAT(error_of_encode(state), HasSubstr("a (33 axes, at most 32 fit)"));
}

TEST(EncodeDopamine, RefusesWhatItsReaderWould) {
  std::vector<State::Entry> entries;
  for (int i = 0; i < 100; ++i) {
    entries.push_back({Path{std::string(100000, 'k'), i}, Variable(scalar(1.0f))});
  }
  EXPECT_THAT(error_of_encode(State(entries)), HasSubstr("reading it would be refused"));
}

// {'w': np.asfortranarray(np.arange(6, dtype='u1').reshape(2, 3))}: the elements stand in row-major order all the same.
constexpr auto tagged_f_of_dopamine =
    "\x81\xa1w\x84\xa5shape\x92\x02\x03\xa4"
    "data\xc4\x06\x00\x01\x02\x03\x04\x05\xa5"
    "dtype\xa5'|u1'\xa5order\xa1"
    "F"sv;

TEST(DecodeDopamine, GivesTheArrayThatWasSavedUnderTheTagF) {
  EXPECT_TRUE(identical(decode(tagged_f_of_dopamine).at(Path{"w"}), tensor<std::uint8_t>({0, 1, 2, 3, 4, 5}, {2, 3})));
}

TEST(DecodeDopamine, ReadsTheTagFAsDopamineDoesIfAsked) {
  const State state = decode(tagged_f_of_dopamine, {.column_major_if_tagged = true});
  EXPECT_TRUE(identical(state.at(Path{"w"}), tensor<std::uint8_t>({0, 2, 4, 1, 3, 5}, {2, 3})));
}

TEST(DecodeDopamine, ReadsBigEndianElements) {
  // {'w': np.array([1, -2], '>i2')}
  const State state = decode(
      "\x81\xa1w\x83\xa5shape\x91\x02\xa4"
      "data\xc4\x04\x00\x01\xff\xfe\xa5"
      "dtype\xa5'>i2'"sv);
  EXPECT_TRUE(identical(state.at(Path{"w"}), tensor<std::int16_t>({1, -2})));
}

TEST(DecodeDopamine, TakesEveryByteButZeroForTrue) {
  const State state = decode(
      "\x83\xa5shape\x91\x03\xa4"
      "data\xc4\x03\x00\x02\xff\xa5"
      "dtype\xa5'|b1'"sv);
  EXPECT_TRUE(identical(state.at(Path()), tensor<bool>({false, true, true})));
}

TEST(DecodeDopamine, ReadsNumbersAndLists) {
  // {'n': 5, 'neg': -3, 'big': 2**64 - 1, 'f': 0.25, 't': True, 'l': [1, {'w': np.int8(2)}], 'e': {}, 'el': []}
  const State state = decode(
      "\x88\xa1n\x05\xa3neg\xfd\xa3"
      "big\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xa1"
      "f\xcb?\xd0\x00\x00\x00\x00\x00\x00\xa1t\xc3\xa1l\x92\x01\x81\xa1w\x83\xa5shape\x90\xa4"
      "data\xc4\x01\x02\xa5"
      "dtype\xa5'|i1'\xa1"
      "e\x80\xa2"
      "el\x90"sv);
  const State expected{{Path{"n"}, Variable(scalar<std::int64_t>(5))},
                       {Path{"neg"}, Variable(scalar<std::int64_t>(-3))},
                       {Path{"big"}, Variable(scalar<std::uint64_t>(18446744073709551615u))},
                       {Path{"f"}, Variable(scalar(0.25))},
                       {Path{"t"}, Variable(scalar(true))},
                       {Path{"l", 0}, Variable(scalar<std::int64_t>(1))},
                       {Path{"l", 1, "w"}, Variable(scalar<std::int8_t>(2))}};
  EXPECT_EQ(state, expected);
}

TEST(DecodeDopamine, ReadsIntegersInTheLongForm) {
  EXPECT_TRUE(identical(decode("\x81\xa7integer\xa3-12"sv).at(Path()), scalar<std::int64_t>(-12)));
  EXPECT_TRUE(identical(decode("\x82\xa1z\xc0\xa7integer\x05"sv).at(Path()), scalar<std::int64_t>(5)));
}

TEST(DecodeDopamine, RefusesIntegersThatNoTensorHolds) {
  // {'n': 2**64}
  EXPECT_THAT(error_of_decode("\x81\xa1n\x81\xa7integer\xb4"
                              "18446744073709551616"sv),
              AllOf(HasSubstr("byte 12, n:"), HasSubstr("at most 64 bits")));
}

TEST(DecodeDopamine, IgnoresOtherKeysOfAnArray) {
  const State state = decode(
      "\x85\xa4name\xa1w\xa5shape\x90\xa7integer\xc0\xa4"
      "data\xc4\x01\x02\xa5"
      "dtype\xa5'|i1'"sv);
  EXPECT_TRUE(identical(state.at(Path()), scalar<std::int8_t>(2)));
}

TEST(DecodeDopamine, NamesBytePathAndFactsOfAMistake) {
  EXPECT_EQ(error_of_decode("\x81\xa1"
                            "a\x81\x07\x83\xa5shape\x91\x02\xa4"
                            "data\xc4\x04\x00\x00\x80\x3f\xa5"
                            "dtype\xa5'<f4'"sv),
            "[decode_dopamine] byte 19, a/7: `data` has 4 bytes, but 2 elements of float32 take 8.");
}

TEST(DecodeDopamine, MakesKindsOfUnknownNamesIfAsked) {
  // A file of a program that knows a kind by a name of the same length, which is changed for one that nobody knows.
  static const Kind kind("KindOfThisProgram", &kind_of<Param>());
  register_kind(kind);
  std::vector<std::byte> bytes = encode_dopamine(State{{{"a"}, Variable(kind, zeros({1}))}});
  const std::span<const std::byte> name = as_bytes("KindOfThisProgram");
  const std::span<const std::byte> other = as_bytes("KindOfThatProgram");
  std::copy(other.begin(), other.end(), std::search(bytes.begin(), bytes.end(), name.begin(), name.end()));
  const State plain = decode_dopamine(bytes);
  EXPECT_EQ(&plain.at({"a"}).kind(), &kind_of<Variable>());
  const State state = decode_dopamine(bytes, {.add_unknown_kinds = true});
  EXPECT_EQ(state.at({"a"}).kind().name, "KindOfThatProgram");
  EXPECT_EQ(&state.at({"a"}).kind(), find_kind("KindOfThatProgram"));
}

}  // namespace
}  // namespace strata::checkpoint
