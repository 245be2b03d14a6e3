// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::checkpoint {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

State decode(std::string_view bytes, const FlatNameOptions& options = {}) {
  return decode_safetensors(std::as_bytes(std::span(bytes)), options);
}

std::string encode(const State& state) {
  std::string text;
  for (const std::byte b : encode_safetensors(state)) text += static_cast<char>(b);
  return text;
}

// A file with this header.
std::string with_header(std::string_view header, std::string_view data = ""sv) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes.append(header).append(data);
}

// Made by safetensors.numpy.save({'lstm.bias': np.array([1, -2], 'i2'), 'lstm.0.w': np.array([[1.5]], 'f4')}) of
// safetensors 0.8.
const std::string python_file = with_header(
    R"({"lstm.0.w":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"lstm.bias":{"dtype":"I16","shape":[2],"data_offsets":[4,8]}})"
    "    ",
    "\0\0\xc0\x3f\1\0\xfe\xff"sv);

State python_state() {
  return {{Path{"lstm", 0, "w"}, Variable(full({1, 1}, 1.5f))},
          {Path{"lstm", "bias"}, Variable(tensor<std::int16_t>({1, -2}))}};
}

TEST(Safetensors, ReadsWhatPythonWrites) { EXPECT_EQ(decode(python_file), python_state()); }

TEST(Safetensors, WritesTheBytesThatPythonWrites) { EXPECT_EQ(encode(python_state()), python_file); }

TEST(Safetensors, KeepsEveryElementType) {
  State state;
  for (const DType dtype : all_dtypes) {
    state.set(Path{"all", std::string(name(dtype))}, Variable(arange(6).reshape({2, 3}).astype(dtype)));
  }
  EXPECT_EQ(decode(encode(state)), state);
}

TEST(Safetensors, KeepsScalarsAndEmptyTensors) {
  const State state{{Path{"a"}, Variable(scalar(2.5))}, {Path{"b"}, Variable(zeros({3, 0}))}};
  EXPECT_EQ(decode(encode(state)), state);
}

TEST(Safetensors, DigitsBecomeIntegerKeysOnlyAsPythonWritesThem) {
  const State state = decode(with_header(R"({"0.07.-1.+1":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"));
  EXPECT_EQ(state.begin()->path, (Path{0, "07", -1, "+1"}));
}

TEST(Safetensors, TheSeparatorMayBeAnotherOrNone) {
  const std::string file = with_header(R"({"a.b/c":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})");
  EXPECT_EQ(decode(file).begin()->path, (Path{"a", "b/c"}));
  EXPECT_EQ(decode(file, {.separator = "/"}).begin()->path, (Path{"a.b", "c"}));
  EXPECT_EQ(decode(file, {.separator = ""}).begin()->path, (Path{"a.b/c"}));
}

TEST(Safetensors, ANameThatContinuesAnotherNeedsAnotherSeparator) {
  const std::string file = with_header(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                                       R"("a.b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})");
  EXPECT_THAT([&] { (void)decode(file); },
              ThrowsMessage<FormatError>(HasSubstr("the names make no tree with the separator '.'")));
  EXPECT_EQ(decode(file, {.separator = "/"}).size(), 2);
}

TEST(Safetensors, TrueIsAnyByteButZero) {
  const State state = decode(with_header(R"({"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", "\2\0"sv));
  EXPECT_EQ(state.at({"x"}), Variable(tensor({true, false})));
}

TEST(Safetensors, WritingListsPathsThatWouldNotComeBack) {
  const State state{{Path{"a.b"}, Variable(ones({1}))}, {Path{"c", "0"}, Variable(ones({1}))}};
  EXPECT_THAT(
      [&] { (void)encode(state); },
      ThrowsMessage<StateError>("[encode_safetensors] paths that their names would not lead back to: a.b (a key "
                                "holds the separator), c/'0' (a text key is made like an integer). Rename them, "
                                "or take another separator than '.'."));
}

TEST(Safetensors, NoTensorIsCalledAsTheMetadata) {
  const State state{{Path{"__metadata__"}, Variable(ones({1}))}};
  EXPECT_THAT([&] { (void)encode(state); }, ThrowsMessage<StateError>(HasSubstr("cannot be called __metadata__")));
}

struct Hostile {
  std::string_view name;
  std::string_view header;
  std::string_view data;
  std::string_view message;
};

class HostileSafetensors : public testing::TestWithParam<Hostile> {};

TEST_P(HostileSafetensors, AreRefused) {
  const std::string bytes = with_header(GetParam().header, GetParam().data);
  EXPECT_THAT([&] { (void)decode(bytes); }, ThrowsMessage<FormatError>(HasSubstr(std::string(GetParam().message))));
}

constexpr Hostile hostile_files[] = {
    {"NoObject", "[]", "", "byte 8: the header must be an object, not a list."},
    {"Nothing", "", "", "byte 8: the header is no JSON text"},
    {"Nul", "{}\0"sv, "", "byte 10: the header holds a NUL byte."},
    {"ByteOrderMark", "\xef\xbb\xbf{}", "", "byte 8: the header begins with a byte order mark."},
    {"DataWithoutTensors", "{}", "x", "byte 10: 1 bytes follow that belong to no tensor."},
    {"NoDtype", R"({"a":{"shape":[],"data_offsets":[0,0]}})", "", "tensor 'a': `dtype` is missing."},
    {"OtherDtype", R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", "x",
     "tensor 'a': `dtype` 'F8_E4M3' is not an element type that a tensor holds."},
    {"SizeOverflow", R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", "",
     "tensor 'a': its bytes do not fit 63 bits."},
    {"SizeNegative", R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "xxxx",
     "tensor 'a': `shape` may hold only integers"},
    {"Hole", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "xx", "must begin at 0"},
    {"Reversed", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,-1]}})", "x", "`data_offsets` may hold only"},
    {"Beyond", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "x", "end within the 1 bytes of data"},
    {"KeyTwice", R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", "",
     "tensor 'a': the key 'dtype' stands twice."},
    {"NameTwice",
     R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", "",
     "paths given more than once: a"},
    {"MetadataNoText", R"({"__metadata__":{"a":1}})", "", "metadata must be an object of texts, not an integer."},
    {"Deep", R"({"a":[[[[[[]]]]]]})", "", "tensor 'a': the description of a tensor must be an object, not a list."},
};

INSTANTIATE_TEST_SUITE_P(Files, HostileSafetensors, testing::ValuesIn(hostile_files),
                         [](const auto& file) { return std::string(file.param.name); });

TEST(Safetensors, UnknownMembersOfATensorArePassedOver) {
  EXPECT_EQ(
      decode(with_header(
                 R"({"a":{"x":{"y":[1,{"z":null}]},"dtype":"U8","shape":[0],"w":true,"data_offsets":[0,0],"v":[]}})"))
          .size(),
      1);
}

TEST(Safetensors, PassedOverValuesMayNotBeDeep) {
  const std::string deep = R"({"a":{"x":)" + std::string(101, '[');
  EXPECT_THAT([&] { (void)decode(with_header(deep)); }, ThrowsMessage<FormatError>(HasSubstr("too deep")));
}

TEST(Safetensors, ALengthBeyondTheFileIsRefusedBeforeMemoryIsTaken) {
  EXPECT_THAT(
      [] { (void)decode("\xff\xff\xff\xff\xff\xff\xff\x7f{}"sv); },
      ThrowsMessage<FormatError>(HasSubstr("[decode_safetensors] byte 0: a header of 9223372036854775807 bytes")));
}

TEST(Safetensors, EveryCutOfAFileIsRefused) {
  for (std::size_t size = 0; size < python_file.size(); ++size) {
    EXPECT_THROW((void)decode(std::string_view(python_file).substr(0, size)), FormatError) << size << " bytes";
  }
}

TEST(Safetensors, NamesThatTakeManyTimesTheirMemoryAreRefused) {
  const std::string name(2'000'000, '.');
  EXPECT_THAT(
      [&] { (void)decode(with_header(R"({")" + name + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})")); },
      ThrowsMessage<FormatError>(HasSubstr("many times the memory")));
}

TEST(Safetensors, FilesAppearWholeAndNameThemselvesInErrors) {
  const std::string file = fs::path(testing::TempDir()) / "strata_safetensors_test.safetensors";
  save_safetensors(file, python_state());
  EXPECT_EQ(restore_safetensors(file), python_state());
  fs::resize_file(file, 20);
  EXPECT_THAT([&] { (void)restore_safetensors(file); },
              ThrowsMessage<FormatError>(HasSubstr("[restore_safetensors] " + file + ", byte 0")));
  fs::remove(file);
}

}  // namespace
}  // namespace strata::checkpoint
