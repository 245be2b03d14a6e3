// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/state_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <msgpack.hpp>
#include <variant>

#include "strata/checkpoint/internal/array_names.h"
#include "strata/checkpoint/internal/limits.h"
#include "strata/checkpoint/internal/numpy_dtype.h"
#include "strata/checkpoint/internal/state_check.h"
#include "strata/tensor/error.h"

namespace strata::checkpoint::internal {
namespace {

// The stream that msgpack-c++ packs into.
class Output {
 public:
  explicit Output(const Write& write) : write_(write) {}

  void write(const char* data, std::size_t size) {
    write_(std::as_bytes(std::span(data, size)));
    bytes_written_ += size;
  }

  [[nodiscard]] std::size_t bytes_written() const { return bytes_written_; }

 private:
  const Write& write_;
  std::size_t bytes_written_ = 0;
};

// Dopamine says which of row-major and column-major an array is where only one of them holds; ours are row-major.
bool is_only_row_major(const Shape& shape) {
  return shape.num_elements() > 0 && std::count_if(shape.begin(), shape.end(), [](Index size) { return size > 1; }) > 1;
}

class StateWriter {
 public:
  explicit StateWriter(Output& output) : output_(output), packer_(output) {}

  void write_tree(Entries entries, int depth) {
    if (is_leaf(entries, depth)) return write_variable(entries[0].variable);
    std::uint32_t keys = 0;
    for_each_key(entries, depth, [&](const Key&, Entries) { ++keys; });
    packer_.pack_map(keys);
    for_each_key(entries, depth, [&](const Key& key, Entries below) {
      key.is_integer() ? write_integer(key.integer()) : write_text(key.text());
      write_tree(below, depth + 1);
    });
  }

 private:
  void write_variable(const Variable& variable) {
    const Tensor& tensor = variable.value();
    const Metadata::Map& metadata = variable.metadata().values();
    const bool has_order = is_only_row_major(tensor.shape());
    const bool has_kind = &variable.kind() != &kind_of<Variable>();
    packer_.pack_map(3U + (has_order ? 1 : 0) + (has_kind ? 1 : 0) + (metadata.empty() ? 0 : 1));
    write_text(shape_name);
    packer_.pack_array(static_cast<std::uint32_t>(tensor.rank()));
    for (const Index size : tensor.shape()) write_integer(size);
    write_text(data_name);
    write_elements(tensor.bytes());
    write_text(dtype_name);
    write_text(numpy_text(tensor.dtype()));
    if (has_order) {
      write_text(order_name);
      write_text("C");
    }
    if (has_kind) {
      write_text(kind_name);
      write_text(variable.kind().name);
    }
    if (!metadata.empty()) write_metadata(metadata);
  }

  // Pairs in a list: Dopamine might take a map for an array or a number.
  void write_metadata(const Metadata::Map& metadata) {
    write_text(metadata_name);
    packer_.pack_array(static_cast<std::uint32_t>(metadata.size()));
    for (const auto& [name, value] : metadata) {
      packer_.pack_array(2);
      write_text(name);
      std::visit([this](const auto& v) { write_value(v); }, value);
    }
  }

  void write_value(bool value) { value ? packer_.pack_true() : packer_.pack_false(); }
  void write_value(Index value) { write_integer(value); }
  void write_value(const std::string& value) { write_text(value); }

  // msgpack-c++ would turn a whole number into an integer.
  void write_value(double value) {
    std::array<char, 9> bytes{'\xcb'};
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      bytes[i] = static_cast<char>(std::bit_cast<std::uint64_t>(value) >> (8 * (8 - i)) & 0xff);
    }
    output_.write(bytes.data(), bytes.size());
  }

  void write_integer(Index value) { packer_.pack_int64(value); }

  void write_text(std::string_view text) {
    packer_.pack_str(static_cast<std::uint32_t>(text.size()));
    packer_.pack_str_body(text.data(), static_cast<std::uint32_t>(text.size()));
  }

  void write_elements(std::span<const std::byte> bytes) {
    packer_.pack_bin(static_cast<std::uint32_t>(bytes.size()));
    packer_.pack_bin_body(reinterpret_cast<const char*>(bytes.data()), static_cast<std::uint32_t>(bytes.size()));
  }

  Output& output_;
  msgpack::packer<Output> packer_;
};

// What the reader will count.
std::size_t memory_when_read(const State& state) {
  std::size_t memory = 0;
  for (const auto& [path, variable] : state) {
    memory += entry_memory + metadata_value_memory * variable.metadata().values().size();
    for (const Key& key : path) memory += key_memory(key);
  }
  return memory;
}

}  // namespace

void write_state(const State& state, const std::string& operation, const Write& write) {
  check_encodable(state, operation);
  Output output(write);
  StateWriter(output).write_tree({state.begin(), state.end()}, 0);
  if (memory_when_read(state) > memory_allowed(output.bytes_written())) {
    throw StateError(
        fmt::format("[{}] the paths of the state take many times the memory of its encoding ({} bytes), "
                    "so that reading it would be refused. Shorten keys that many paths share.",
                    operation, output.bytes_written()));
  }
}

}  // namespace strata::checkpoint::internal
