// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/tensor/shape.h"

namespace strata {

// One step of a path: the name of a member or the position in a list. 1 and "1" are different keys.
// Ordered integers first, by number, then texts, by bytes.
class Key {
 public:
  template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>) Key(T position)
      : integer_(static_cast<Index>(position)), is_integer_(true) {}
  Key(std::string text) : text_(std::move(text)) {}
  Key(std::string_view text) : text_(text) {}
  Key(const char* text) : text_(text) {}

  [[nodiscard]] bool is_integer() const noexcept { return is_integer_; }
  [[nodiscard]] Index integer() const noexcept { return integer_; }         // of an integer key
  [[nodiscard]] const std::string& text() const noexcept { return text_; }  // of a text key

  [[nodiscard]] std::strong_ordering operator<=>(const Key& other) const noexcept {
    if (is_integer_ != other.is_integer_) return other.is_integer_ <=> is_integer_;
    return is_integer_ ? integer_ <=> other.integer_ : text_ <=> other.text_;
  }
  bool operator==(const Key&) const = default;

 private:
  std::string text_;
  Index integer_ = 0;
  bool is_integer_ = false;
};

// The key as it stands in a path: integers as digits, texts as they are; a text that would be misread (empty, made like
// an integer, or holding a slash, a quote or a backslash) in single quotes, with a backslash before quotes and
// backslashes.
std::string to_string(const Key& key);
std::ostream& operator<<(std::ostream& out, const Key& key);

// The keys from the root of a module to a variable. Ordered key by key, a path before its continuations. Copies share
// the keys.
class Path {
 public:
  Path() = default;  // the root
  Path(std::initializer_list<Key> keys) : Path(std::vector<Key>(keys)) {}
  explicit Path(std::vector<Key> keys);

  // Reads what to_string writes: `encoder/0/kernel`, `heads/'0'/bias`. Digits, with an optional minus and without
  // leading zeros, are integers. The empty text is the root. Throws ValueError with the position of the mistake.
  [[nodiscard]] static Path parse(std::string_view text);

  [[nodiscard]] std::span<const Key> keys() const noexcept;
  [[nodiscard]] int depth() const noexcept { return static_cast<int>(keys().size()); }
  [[nodiscard]] bool empty() const noexcept { return keys().empty(); }
  [[nodiscard]] const Key& operator[](int position) const { return keys()[static_cast<std::size_t>(position)]; }
  [[nodiscard]] auto begin() const noexcept { return keys().begin(); }
  [[nodiscard]] auto end() const noexcept { return keys().end(); }

  // This path continued by one key, or by another path.
  [[nodiscard]] Path operator/(const Key& key) const;
  [[nodiscard]] Path operator/(const Path& rest) const;

  // True if this path leads through `prefix`; every path starts with itself and with the root.
  [[nodiscard]] bool starts_with(const Path& prefix) const noexcept;

  [[nodiscard]] std::strong_ordering operator<=>(const Path& other) const noexcept;
  [[nodiscard]] bool operator==(const Path& other) const noexcept;

 private:
  std::shared_ptr<const std::vector<Key>> keys_;  // null for the root
};

std::string to_string(const Path& path);
std::ostream& operator<<(std::ostream& out, const Path& path);

}  // namespace strata
