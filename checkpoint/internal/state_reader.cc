// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/state_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <compare>
#include <limits>
#include <optional>
#include <vector>

#include "strata/checkpoint/internal/array_names.h"
#include "strata/checkpoint/internal/array_reader.h"
#include "strata/checkpoint/internal/limits.h"
#include "strata/checkpoint/internal/message.h"
#include "strata/checkpoint/internal/reading.h"

namespace strata::checkpoint::internal {
namespace {

using Type = Message::Type;

constexpr auto max_index = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());

template <class T>
std::optional<T> parse_whole(std::string_view digits) {
  T number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

// Walks the message and collects a variable for every array and number. The depth of the calls is bounded by
// max_levels.
class StateReader {
 public:
  StateReader(const Message& message, const Source& source, std::size_t memory, DopamineOptions options)
      : message_(message), reading_{message, source, {}, memory}, options_(options) {}

  State read() {
    read_value(0);
    return State(std::move(entries_));
  }

 private:
  void read_value(std::size_t value) {
    switch (message_.type(value)) {
      case Type::map:
        return read_map(value);
      case Type::list:
        return read_list(value);
      case Type::boolean:
        return add(value, scalar(message_.boolean(value)));
      case Type::floating:
        return add(value, scalar(message_.floating(value)));
      case Type::positive_integer:
        return add(value, integer_tensor(message_.positive_integer(value)));
      case Type::negative_integer:
        return add(value, scalar(message_.negative_integer(value)));
      default:
        reading_.fail(value, fmt::format("expected an array, a number, a map or a list, got {}.",
                                         describe(message_.type(value))));
    }
  }

  static Tensor integer_tensor(std::uint64_t value) {
    return value <= max_index ? scalar(static_cast<std::int64_t>(value)) : scalar(value);
  }

  void read_list(std::size_t list) {
    Index position = 0;
    for (std::size_t item = list + 1; item != message_.next(list); item = message_.next(item)) {
      read_below(Key(position++), item);
    }
  }

  void read_map(std::size_t map) {
    const std::vector<std::size_t> keys = sorted_keys(map);
    ArrayFields fields;
    for (const std::size_t key : keys) {
      if (message_.type(key) == Type::text) fields.set(message_.text(key), key + 1);
    }
    if (fields.complete()) return add(map, read_array(reading_, fields, options_));
    for (const std::size_t key : keys) {
      if (message_.type(key) == Type::text && message_.text(key) == integer_name) return read_long_integer(key + 1);
    }
    for (const std::size_t key : keys) read_below(path_key(key), key + 1);
  }

  void read_below(Key key, std::size_t value) {
    const std::size_t memory = key_memory(key);
    reading_.keys.push_back(std::move(key));
    keys_memory_ += memory;
    read_value(value);
    keys_memory_ -= memory;
    reading_.keys.pop_back();
  }

  // The keys of a map in the order of path keys. Throws FormatError if one stands twice.
  std::vector<std::size_t> sorted_keys(std::size_t map) {
    std::vector<std::size_t> keys;
    for (std::size_t key = map + 1; key != message_.next(map); key = message_.next(key + 1)) {
      check_key(key);
      keys.push_back(key);
    }
    std::sort(keys.begin(), keys.end(), [this](std::size_t a, std::size_t b) { return compare_keys(a, b) < 0; });
    const auto twice = std::adjacent_find(keys.begin(), keys.end(),
                                          [this](std::size_t a, std::size_t b) { return compare_keys(a, b) == 0; });
    if (twice != keys.end()) {
      reading_.fail(std::max(twice[0], twice[1]),
                    fmt::format("the key {} stands twice.", shortened(to_string(path_key(*twice)))));
    }
    return keys;
  }

  void check_key(std::size_t key) {
    const bool fits = message_.type(key) == Type::text || message_.type(key) == Type::negative_integer ||
                      (message_.type(key) == Type::positive_integer && message_.positive_integer(key) <= max_index);
    if (fits) return;
    reading_.fail(key, fmt::format("a key must be a text or an integer of 64 bits with a sign, not {}.",
                                   describe(message_.type(key))));
  }

  // As Key does.
  std::strong_ordering compare_keys(std::size_t a, std::size_t b) const {
    const bool a_is_text = message_.type(a) == Type::text;
    const bool b_is_text = message_.type(b) == Type::text;
    if (a_is_text != b_is_text) return a_is_text <=> b_is_text;
    return a_is_text ? message_.text(a) <=> message_.text(b) : integer_key(a) <=> integer_key(b);
  }

  Index integer_key(std::size_t key) const {
    return message_.type(key) == Type::negative_integer ? message_.negative_integer(key)
                                                        : static_cast<Index>(message_.positive_integer(key));
  }

  Key path_key(std::size_t key) const {
    return message_.type(key) == Type::text ? Key(message_.text(key)) : Key(integer_key(key));
  }

  // Dopamine writes integers that MessagePack cannot hold as decimal texts, and reads plain ones there too.
  void read_long_integer(std::size_t value) {
    if (message_.is_integer(value)) return read_value(value);
    reading_.require(value, Type::text, fmt::format("`{}`", integer_name));
    const std::string_view digits = message_.text(value);
    if (const auto number = parse_whole<std::int64_t>(digits)) return add(value, scalar(*number));
    if (const auto number = parse_whole<std::uint64_t>(digits)) return add(value, scalar(*number));
    reading_.fail(value, fmt::format("`{}` must be the decimal digits of an integer of at most 64 bits: a tensor holds "
                                     "no other.",
                                     integer_name));
  }

  void add(std::size_t value, Tensor tensor) { add(value, Variable(std::move(tensor))); }

  void add(std::size_t value, Variable variable) {
    reading_.take_memory(value, entry_memory + keys_memory_);
    entries_.push_back({Path(reading_.keys), std::move(variable)});
  }

  const Message& message_;
  Reading reading_;
  DopamineOptions options_;
  std::size_t keys_memory_ = 0;
  std::vector<State::Entry> entries_;
};

}  // namespace

State read_state(std::span<const std::byte> bytes, const Source& source, DopamineOptions options) {
  const Message message(bytes, source);
  return StateReader(message, source, memory_allowed(bytes.size()), options).read();
}

}  // namespace strata::checkpoint::internal
