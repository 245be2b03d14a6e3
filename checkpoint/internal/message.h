// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "strata/checkpoint/internal/source.h"

namespace strata::checkpoint::internal {

// One MessagePack value, taken apart and known to be well-formed: complete, nothing behind it, all text UTF-8, lists
// and maps not more than max_levels deep. Views the bytes; takes 16 bytes for each value in them.
//
// The values stand in the order of the bytes, numbered from 0, each list or map before what it holds; a map holds key,
// value, key, value, ...
class Message {
 public:
  enum class Type : std::uint8_t {
    nil,
    boolean,
    positive_integer,  // zero included
    negative_integer,
    floating,
    text,
    binary,
    extension,
    list,
    map,
  };

  // Throws FormatError with the byte where the data stop being well-formed.
  Message(std::span<const std::byte> bytes, const Source& source);

  [[nodiscard]] Type type(std::size_t value) const { return static_cast<Type>(values_[value].type); }
  [[nodiscard]] bool is_integer(std::size_t value) const {
    return type(value) == Type::positive_integer || type(value) == Type::negative_integer;
  }

  // Where the value begins in the bytes.
  [[nodiscard]] std::uint64_t offset(std::size_t value) const { return values_[value].offset; }

  // The number of the value behind this one and all that it holds.
  [[nodiscard]] std::size_t next(std::size_t value) const;

  // The content of a value, which must be of the fitting type.
  [[nodiscard]] bool boolean(std::size_t value) const { return values_[value].content != 0; }
  [[nodiscard]] std::uint64_t positive_integer(std::size_t value) const { return values_[value].content; }
  [[nodiscard]] std::int64_t negative_integer(std::size_t value) const;
  [[nodiscard]] double floating(std::size_t value) const;
  [[nodiscard]] std::string_view text(std::size_t value) const;
  [[nodiscard]] std::span<const std::byte> binary(std::size_t value) const;

 private:
  class Builder;

  struct Value {
    std::uint64_t offset : 56;
    std::uint64_t type : 8;
    std::uint64_t content;  // number by its bits; text, binary, extension: bytes; list, map: number of the next value
  };

  std::span<const std::byte> bytes_;
  std::deque<Value> values_;  // grows without copies: a vector would take three times as much
};

// "a text", "an integer": what error messages say of a value.
[[nodiscard]] std::string_view describe(Message::Type type);

}  // namespace strata::checkpoint::internal
