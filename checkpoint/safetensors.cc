// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "strata/checkpoint/internal/atomic_file.h"
#include "strata/checkpoint/internal/elements.h"
#include "strata/checkpoint/internal/flat_state.h"
#include "strata/checkpoint/internal/limits.h"
#include "strata/checkpoint/internal/safetensors_header.h"
#include "strata/state/internal/listing.h"
#include "strata/state/internal/quote.h"
#include "strata/tensor/error.h"

namespace strata::checkpoint {
namespace {

using internal::SafetensorsEntry;
using internal::Source;
using Bytes = std::span<const std::byte>;

constexpr bool swapped = std::endian::native == std::endian::big;

std::string shown_name(const SafetensorsEntry& entry) {
  return strata::internal::quote_text(internal::shortened(entry.name));
}

// ---------------------------------------------------------------- reading

Bytes header_of(Bytes bytes, const Source& source) {
  if (bytes.size() < internal::safetensors_length_bytes) {
    source.fail(bytes.size(), "expected 8 bytes that tell the length of the header, but the data end here.");
  }
  std::uint64_t length = 0;
  for (std::size_t i = internal::safetensors_length_bytes; i-- > 0;) {
    length = length << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  }
  const std::size_t left = bytes.size() - internal::safetensors_length_bytes;
  if (length > internal::max_safetensors_header || length > left) {
    source.fail(0, fmt::format("a header of {} bytes is announced; {} bytes follow, and {} are allowed.", length, left,
                               internal::max_safetensors_header));
  }
  return bytes.subspan(internal::safetensors_length_bytes, static_cast<std::size_t>(length));
}

// Sorts the tensors by their places. Throws FormatError unless they fill the data, each its own part.
void check_places(std::vector<SafetensorsEntry>& entries, std::uint64_t data_begin, std::uint64_t data_size,
                  const Source& source) {
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t place = 0;
  for (const SafetensorsEntry& entry : entries) {
    const std::optional<std::uint64_t> needed = internal::bytes_of(entry.sizes, entry.dtype);
    if (!needed) {
      source.fail(data_begin + place, fmt::format("tensor {}: its bytes do not fit 63 bits.", shown_name(entry)));
    }
    if (entry.begin != place || entry.end < entry.begin || entry.end > data_size ||
        entry.end - entry.begin != *needed) {
      source.fail(data_begin + place,
                  fmt::format("tensor {} of {} bytes has `data_offsets` [{}, {}], but must begin at {}, behind the one "
                              "before it, and end within the {} bytes of data.",
                              shown_name(entry), *needed, entry.begin, entry.end, place, data_size));
    }
    place = entry.end;
  }
  if (place != data_size) {
    source.fail(data_begin + place, fmt::format("{} bytes follow that belong to no tensor.", data_size - place));
  }
}

State read_safetensors(Bytes bytes, const Source& source, const FlatNameOptions& options) {
  const Bytes header = header_of(bytes, source);
  std::vector<SafetensorsEntry> entries = internal::parse_safetensors_header(header, source);
  const std::size_t data_begin = internal::safetensors_length_bytes + header.size();
  const Bytes data = bytes.subspan(data_begin);
  check_places(entries, data_begin, data.size(), source);
  internal::FlatStateBuilder builder(source, options, bytes.size());
  for (const SafetensorsEntry& entry : entries) {
    const Bytes elements =
        data.subspan(static_cast<std::size_t>(entry.begin), static_cast<std::size_t>(entry.end - entry.begin));
    builder.add(entry.name, internal::read_elements(elements, {entry.dtype, swapped}, Shape(entry.sizes)),
                data_begin + entry.begin);
  }
  return std::move(builder).finish();
}

// ---------------------------------------------------------------- writing

// The place of an element type in the order of the reference writer.
int rank_of(DType dtype) {
  switch (dtype) {
    case DType::uint64:
      return 0;
    case DType::int64:
      return 1;
    case DType::float64:
      return 2;
    case DType::float32:
      return 3;
    case DType::uint32:
      return 4;
    case DType::int32:
      return 5;
    case DType::bfloat16:
      return 6;
    case DType::float16:
      return 7;
    case DType::uint16:
      return 8;
    case DType::int16:
      return 9;
    case DType::int8:
      return 10;
    case DType::uint8:
      return 11;
    case DType::boolean:
      break;
  }
  return 12;
}

struct Item {
  SafetensorsEntry entry;
  Tensor value;
};

std::vector<Item> items_of(const State& state, const FlatNameOptions& options, const std::string& operation) {
  std::vector<std::string> names = internal::flat_names(state, options, operation);
  std::vector<Item> items;
  std::size_t position = 0;
  for (const auto& [path, variable] : state) {
    const Tensor& value = variable.value();
    if (value.rank() > internal::max_rank_read) {
      throw ShapeError(fmt::format("[{}] {} has {} axes; {} are allowed.", operation, strata::internal::shown(path),
                                   value.rank(), internal::max_rank_read));
    }
    std::string& name = names[position++];
    if (name == internal::safetensors_metadata_name) {
      throw StateError(
          fmt::format("[{}] a tensor of a safetensors file cannot be called {}. Rename it.", operation, name));
    }
    const std::span<const Index> sizes = value.shape().sizes();
    items.push_back({{std::move(name), value.dtype(), {sizes.begin(), sizes.end()}}, value});
  }
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    const int a_rank = rank_of(a.entry.dtype);
    const int b_rank = rank_of(b.entry.dtype);
    return std::tie(a_rank, a.entry.name) < std::tie(b_rank, b.entry.name);
  });
  std::uint64_t place = 0;
  for (Item& item : items) {
    item.entry.begin = place;
    place += item.value.num_bytes();
    item.entry.end = place;
  }
  return items;
}

template <class Write>
void write_safetensors(const State& state, const FlatNameOptions& options, const std::string& operation, Write write) {
  const std::vector<Item> items = items_of(state, options, operation);
  std::vector<SafetensorsEntry> entries;
  entries.reserve(items.size());
  for (const Item& item : items) entries.push_back(item.entry);
  const std::string header = internal::safetensors_header(entries);
  if (header.size() > internal::max_safetensors_header) {
    throw StateError(fmt::format("[{}] the names and shapes of {} variables take {} bytes; the format allows {}.",
                                 operation, state.size(), header.size(), internal::max_safetensors_header));
  }
  std::array<std::byte, internal::safetensors_length_bytes> length{};
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<std::byte>(header.size() >> (8 * i));
  write(Bytes(length));
  write(std::as_bytes(std::span(header)));
  for (const Item& item : items) {
    const auto order = internal::NumpyDType{item.value.dtype(), swapped};
    const Tensor value = swapped ? internal::read_elements(item.value.bytes(), order, item.value.shape()) : item.value;
    write(value.bytes());
  }
}

}  // namespace

std::vector<std::byte> encode_safetensors(const State& state, const FlatNameOptions& options) {
  std::vector<std::byte> bytes;
  write_safetensors(state, options, "encode_safetensors",
                    [&](Bytes part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  return bytes;
}

State decode_safetensors(std::span<const std::byte> bytes, const FlatNameOptions& options) {
  return read_safetensors(bytes, {.operation = "decode_safetensors"}, options);
}

void save_safetensors(const std::string& file, const State& state, const FlatNameOptions& options) {
  internal::AtomicFile output(file, "save_safetensors");
  write_safetensors(state, options, "save_safetensors", [&](Bytes part) { output.write(part); });
  output.commit();
}

State restore_safetensors(const std::string& file, const FlatNameOptions& options) {
  const std::vector<std::byte> bytes = internal::read_file(file, "restore_safetensors");
  return read_safetensors(bytes, {.operation = "restore_safetensors", .file = file}, options);
}

}  // namespace strata::checkpoint
