// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/message.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <msgpack.hpp>

#include "strata/checkpoint/internal/limits.h"
#include "strata/state/internal/utf8.h"

namespace strata::checkpoint::internal {
namespace {

// Bytes before the content of a value that starts with this byte; the whole value if it has none of variable length.
// The type of an extension counts as content, as msgpack-c++ has it.
std::size_t header_size(std::byte first) {
  constexpr std::array<std::uint8_t, 32> from_c0{1, 1, 1, 1, 2, 3, 5, 2, 3, 5, 5, 9, 2, 3, 5, 9,
                                                 2, 3, 5, 9, 1, 1, 1, 1, 1, 2, 3, 5, 3, 5, 3, 5};
  const auto byte = std::to_integer<std::size_t>(first);
  return byte < 0xc0 || byte > 0xdf ? 1 : from_c0[byte - 0xc0];
}

}  // namespace

// Called by msgpack-c++ for every value in turn. It does not say where a value stands: the position is counted here.
class Message::Builder {
 public:
  Builder(Message& message, const Source& source) : message_(message), source_(source) {}

  void build() {
    const std::span<const std::byte> bytes = message_.bytes_;
    std::size_t end = 0;
    msgpack::parse(reinterpret_cast<const char*>(bytes.data()), bytes.size(), end, *this);
    if (end != bytes.size()) {
      source_.fail(end, fmt::format("expected the end of the data, but {} bytes follow.", bytes.size() - end));
    }
  }

  bool visit_nil() { return add(Type::nil, 0); }
  bool visit_boolean(bool value) { return add(Type::boolean, value ? 1 : 0); }
  bool visit_positive_integer(std::uint64_t value) { return add(Type::positive_integer, value); }
  bool visit_negative_integer(std::int64_t value) {
    return add(Type::negative_integer, std::bit_cast<std::uint64_t>(value));
  }
  bool visit_float32(float value) { return visit_float64(static_cast<double>(value)); }
  bool visit_float64(double value) { return add(Type::floating, std::bit_cast<std::uint64_t>(value)); }

  bool visit_str(const char*, std::uint32_t size) {
    add(Type::text, size, size);
    if (!strata::internal::is_utf8(message_.text(last())))
      source_.fail(message_.offset(last()), "the text is not UTF-8.");
    return true;
  }
  bool visit_bin(const char*, std::uint32_t size) { return add(Type::binary, size, size); }
  bool visit_ext(const char*, std::uint32_t size) { return add(Type::extension, size, size); }

  bool start_array(std::uint32_t size) { return open(Type::list, size, 1); }
  bool start_map(std::uint32_t size) { return open(Type::map, size, 2); }
  bool end_array() { return close(); }
  bool end_map() { return close(); }

  bool start_array_item() { return true; }
  bool end_array_item() { return true; }
  bool start_map_key() { return true; }
  bool end_map_key() { return true; }
  bool start_map_value() { return true; }
  bool end_map_value() { return true; }

  void parse_error(std::size_t, std::size_t) {
    source_.fail(position_, "expected a value, but no MessagePack value begins with this byte.");
  }

  void insufficient_bytes(std::size_t, std::size_t) {
    const std::size_t size = message_.bytes_.size();
    if (position_ == size) source_.fail(position_, "expected a value, but the data end here.");
    source_.fail(position_,
                 fmt::format("the value that begins here is cut off at the end of the data, byte {}.", size));
  }

 private:
  [[nodiscard]] std::size_t last() const { return message_.values_.size() - 1; }

  bool add(Type type, std::uint64_t content, std::size_t content_bytes = 0) {
    constexpr std::uint64_t offset_bits = (std::uint64_t{1} << 56) - 1;
    message_.values_.push_back(
        {.offset = position_ & offset_bits, .type = static_cast<std::uint8_t>(type), .content = content});
    position_ += header_size(message_.bytes_[position_]) + content_bytes;
    return true;
  }

  bool open(Type type, std::uint32_t size, std::size_t values_per_item) {
    if (open_.size() == max_levels) {
      source_.fail(position_, fmt::format("lists and maps are more than {} levels deep.", max_levels));
    }
    const std::size_t begin = position_;
    add(type, 0);
    // Each value takes at least a byte.
    if (std::uint64_t{size} * values_per_item > message_.bytes_.size() - position_) {
      source_.fail(begin, fmt::format("{} of {} items is announced, but only {} bytes follow.", describe(type), size,
                                      message_.bytes_.size() - position_));
    }
    open_.push_back(last());
    return true;
  }

  bool close() {
    message_.values_[open_.back()].content = message_.values_.size();
    open_.pop_back();
    return true;
  }

  Message& message_;
  const Source& source_;
  std::size_t position_ = 0;
  std::vector<std::size_t> open_;
};

Message::Message(std::span<const std::byte> bytes, const Source& source) : bytes_(bytes) {
  Builder(*this, source).build();
}

std::size_t Message::next(std::size_t value) const {
  const bool holds_others = type(value) == Type::list || type(value) == Type::map;
  return holds_others ? values_[value].content : value + 1;
}

std::int64_t Message::negative_integer(std::size_t value) const {
  return std::bit_cast<std::int64_t>(values_[value].content);
}

double Message::floating(std::size_t value) const { return std::bit_cast<double>(values_[value].content); }

std::span<const std::byte> Message::binary(std::size_t value) const {
  const std::uint64_t begin = offset(value);
  return bytes_.subspan(begin + header_size(bytes_[begin]), values_[value].content);
}

std::string_view Message::text(std::size_t value) const {
  const std::span<const std::byte> content = binary(value);
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

std::string_view describe(Message::Type type) {
  switch (type) {
    case Message::Type::nil:
      return "nil";
    case Message::Type::boolean:
      return "a bool";
    case Message::Type::positive_integer:
    case Message::Type::negative_integer:
      return "an integer";
    case Message::Type::floating:
      return "a float";
    case Message::Type::text:
      return "a text";
    case Message::Type::binary:
      return "binary data";
    case Message::Type::extension:
      return "an extension value";
    case Message::Type::list:
      return "a list";
    case Message::Type::map:
      break;
  }
  return "a map";
}

}  // namespace strata::checkpoint::internal
