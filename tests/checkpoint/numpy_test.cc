// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/numpy.h"

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
using namespace std::string_literals;
using namespace std::string_view_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte b : bytes) text += static_cast<char>(b);
  return text;
}

// A file of version 1 with this header.
std::string npy(std::string_view header, std::string_view data = ""sv) {
  std::string bytes = "\x93NUMPY\1"s + '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes.append(header).append(data);
}

// numpy.save(file, np.array([[1, 2, 3], [4, 5, 6]], 'i1')) of NumPy 2.2.
const std::string python_file =
    npy("{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }                                                   "
        "       "
        "\n",
        "\1\2\3\4\5\6");

TEST(Npy, ReadsAndWritesTheBytesOfNumPy) {
  const Tensor expected = arange(1, 7).reshape({2, 3}).astype(DType::int8);
  EXPECT_TRUE(identical(decode_npy(bytes_of(python_file)), expected));
  EXPECT_EQ(text_of(encode_npy(expected)), python_file);
}

TEST(Npy, KeepsEveryElementType) {
  for (const DType dtype : all_dtypes) {
    const Tensor value = arange(6).reshape({3, 2}).astype(dtype);
    EXPECT_TRUE(identical(decode_npy(encode_npy(value)), value)) << name(dtype);
  }
}

TEST(Npy, KeepsScalarsAndEmptyTensors) {
  EXPECT_TRUE(identical(decode_npy(encode_npy(scalar(2.5))), scalar(2.5)));
  EXPECT_TRUE(identical(decode_npy(encode_npy(zeros({0, 3}))), zeros({0, 3})));
}

TEST(Npy, ReadsColumnMajorOrder) {
  const std::string file = npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "\1\4\2\5\3\6");
  EXPECT_TRUE(identical(decode_npy(bytes_of(file)), arange(1, 7).reshape({2, 3}).astype(DType::uint8)));
}

TEST(Npy, ReadsTheOtherByteOrder) {
  const std::string file = npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", "\0\1\xff\xfe"sv);
  EXPECT_TRUE(identical(decode_npy(bytes_of(file)), tensor<std::int16_t>({1, -2})));
}

TEST(Npy, ReadsAnyOrderOfKeysWithoutPadding) {
  const std::string file = npy(R"({"shape":(1,),"fortran_order":False,"descr":"<f4"})", "\0\0\xc0\x3f"sv);
  EXPECT_TRUE(identical(decode_npy(bytes_of(file)), full({1}, 1.5f)));
}

TEST(Npy, TwoRawBytesWithAnOrderAreBfloat16) {
  const std::string file = npy("{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }", "\xc0\x3f");
  EXPECT_TRUE(identical(decode_npy(bytes_of(file)), full({1}, 1.5f, DType::bfloat16)));
}

TEST(Npy, RefusesMoreAxesThanNumPyHas) {
  const std::vector<Index> sizes(33, 1);
  EXPECT_THROW((void)encode_npy(ones(Shape(sizes))), ShapeError);
}

struct Hostile {
  std::string_view name;
  std::string_view header;
  std::string_view message;
};

class HostileNpy : public testing::TestWithParam<Hostile> {};

TEST_P(HostileNpy, AreRefused) {
  const std::string file = npy(GetParam().header, "12345678");
  EXPECT_THAT([&] { (void)decode_npy(bytes_of(file)); },
              ThrowsMessage<FormatError>(HasSubstr(std::string(GetParam().message))));
}

constexpr Hostile hostile_headers[] = {
    {"Empty", "", "byte 10: the header of an .npy file: expected '{'."},
    {"Code", "__import__('os').system('x')", "byte 10: the header of an .npy file: expected '{'."},
    {"Objects", "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "`descr` '|O' is not an element type"},
    {"Records", "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "tensors hold no records"},
    {"Complex", "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "`descr` '<c8' is not an element type"},
    {"RawBytes", "{'descr': '|V2', 'fortran_order': False, 'shape': (4,), }", "`descr` '|V2' is not an element type"},
    {"ShapeList", "{'descr': '<f4', 'fortran_order': False, 'shape': [2], }", "`shape` must be a tuple."},
    {"ShapeNumber", "{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", "not a number in parentheses"},
    {"ShapeNegative", "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "`shape` may hold only integers"},
    {"ShapeOverflow", "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", "63 bits"},
    {"TooMuch", "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }", "but 8 follow"},
    {"TooLittle", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "takes 4 bytes, but 8 follow"},
    {"KeyTwice", "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "stands twice"},
    {"KeyUnknown", "{'descr': '<f4', 'x': 1, 'fortran_order': False, 'shape': (2,), }", "the key x is unknown"},
    {"KeyMissing", "{'descr': '<f4', 'shape': (2,), }", "is missing"},
    {"Behind", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } 1", "expected nothing behind"},
};

INSTANTIATE_TEST_SUITE_P(Headers, HostileNpy, testing::ValuesIn(hostile_headers),
                         [](const auto& file) { return std::string(file.param.name); });

TEST(Npy, EveryCutOfAFileIsRefused) {
  for (std::size_t size = 0; size < python_file.size(); ++size) {
    EXPECT_THROW((void)decode_npy(bytes_of(std::string_view(python_file).substr(0, size))), FormatError) << size;
  }
}

State some_state() {
  return {{Path{"encoder", 0, "w"}, Variable(arange(1000).reshape({10, 100}))},
          {Path{"encoder", "b"}, Variable(full({2}, 1.5f))}};
}

TEST(Npz, KeepsAState) { EXPECT_EQ(decode_npz(encode_npz(some_state())), some_state()); }

// NumPy's key '' is the member `.npy`.
TEST(Npz, KeepsAnEmptyName) {
  const State state{{Path{""}, Variable(ones({2}))}};
  EXPECT_EQ(decode_npz(encode_npz(state)), state);
  EXPECT_THROW((void)encode_npz({{Path{}, Variable(ones({2}))}}), StateError);
}

TEST(Npz, MayBeDeflated) {
  const std::vector<std::byte> small = encode_npz(some_state(), {.deflate = true});
  EXPECT_LT(small.size(), encode_npz(some_state()).size() / 2);
  EXPECT_EQ(decode_npz(small), some_state());
}

TEST(Npz, IsTheSameEveryTime) { EXPECT_EQ(encode_npz(some_state()), encode_npz(some_state())); }

TEST(Npz, MayBeEmpty) { EXPECT_EQ(decode_npz(encode_npz(State())), State()); }

TEST(Npz, EveryCutOfAnArchiveIsRefused) {
  const std::vector<std::byte> bytes = encode_npz({{Path{"a"}, Variable(ones({1}))}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW((void)decode_npz(std::span(bytes).first(size)), FormatError) << size << " bytes";
  }
}

TEST(Npz, ADamagedElementIsFoundByTheChecksum) {
  const State state{{Path{"a"}, Variable(ones({1}))}};
  std::vector<std::byte> bytes = encode_npz(state);
  const std::string text = text_of(bytes);
  const std::size_t element = text.find("\0\0\x80\x3f"sv);
  bytes[element] = std::byte{1};
  EXPECT_THAT([&] { (void)decode_npz(bytes); },
              ThrowsMessage<FormatError>("[decode_npz] byte 0: the member 'a.npy' of the zip archive: CRC error."));
}

// The size of a member stands 24 bytes behind the begin of its entry in the directory.
TEST(Npz, AMemberThatClaimsMoreThanItCanHoldIsRefused) {
  std::string text = text_of(encode_npz({{Path{"a"}, Variable(ones({1}))}}));
  text.replace(text.find("PK\1\2") + 24, 4, "\xff\xff\xff\x7f"sv);
  EXPECT_THROW((void)decode_npz(bytes_of(text)), FormatError);
}

TEST(Npz, FilesAppearWholeAndNameThemselvesInErrors) {
  const std::string file = fs::path(testing::TempDir()) / "strata_numpy_test.npz";
  save_npz(file, some_state());
  EXPECT_EQ(restore_npz(file), some_state());
  save_npy(file, ones({2}));
  EXPECT_TRUE(identical(restore_npy(file), ones({2})));
  EXPECT_THAT(
      [&] { (void)restore_npz(file); },
      ThrowsMessage<FormatError>("[restore_npz] " + file + ", byte 0: expected a zip archive: Not a zip archive."));
  fs::remove(file);
}

}  // namespace
}  // namespace strata::checkpoint
