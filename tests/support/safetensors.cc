// SPDX-License-Identifier: Apache-2.0
#include "support/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "strata/tensor/error.h"

namespace strata::support {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they stand in the file");

std::vector<char> read_bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw IoError("[load_safetensors] " + file.string() + ": cannot be opened.");
  std::vector<char> bytes(std::filesystem::file_size(file));
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream) throw IoError("[load_safetensors] " + file.string() + ": cannot be read.");
  return bytes;
}

DType dtype_of_text(const std::string& text) {
  static const std::map<std::string, DType> dtypes{
      {"BOOL", DType::boolean},  {"I8", DType::int8},     {"I16", DType::int16},   {"I32", DType::int32},
      {"I64", DType::int64},     {"U8", DType::uint8},    {"U16", DType::uint16},  {"U32", DType::uint32},
      {"U64", DType::uint64},    {"F16", DType::float16}, {"F32", DType::float32}, {"F64", DType::float64},
      {"BF16", DType::bfloat16},
  };
  const auto found = dtypes.find(text);
  if (found == dtypes.end()) throw FormatError("[load_safetensors] element type " + text + " is not known.");
  return found->second;
}

Tensor read_tensor(const nlohmann::json& entry, std::span<const char> elements) {
  const auto sizes = entry.at("shape").get<std::vector<Index>>();
  const auto [begin, end] = entry.at("data_offsets").get<std::pair<std::size_t, std::size_t>>();
  Tensor result = Tensor::uninitialized(Shape(sizes), dtype_of_text(entry.at("dtype")));
  if (begin > end || end > elements.size() || end - begin != result.num_bytes()) {
    throw FormatError("[load_safetensors] bytes " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
                      std::to_string(elements.size()) + " do not hold a " + describe(result) + ".");
  }
  if (begin != end) std::memcpy(result.mutable_bytes().data(), elements.data() + begin, end - begin);
  return result;
}

}  // namespace

std::map<std::string, Tensor> load_safetensors(const std::filesystem::path& file) {
  const std::vector<char> bytes = read_bytes(file);
  std::uint64_t header_size = 0;
  if (bytes.size() >= sizeof header_size) std::memcpy(&header_size, bytes.data(), sizeof header_size);
  if (bytes.size() < sizeof header_size || header_size > bytes.size() - sizeof header_size) {
    throw FormatError("[load_safetensors] " + file.string() + ": " + std::to_string(bytes.size()) +
                      " bytes do not hold the header.");
  }
  const std::span<const char> rest = std::span(bytes).subspan(sizeof header_size);
  const std::span<const char> text = rest.first(header_size);
  std::map<std::string, Tensor> result;
  try {
    const auto header = nlohmann::json::parse(text.begin(), text.end());
    for (const auto& [name, entry] : header.items()) {
      if (name != "__metadata__") result.emplace(name, read_tensor(entry, rest.subspan(header_size)));
    }
  } catch (const nlohmann::json::exception& error) {
    throw FormatError("[load_safetensors] " + file.string() +
                      ": the header is not of the expected form: " + error.what());
  }
  return result;
}

}  // namespace strata::support
