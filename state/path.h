// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "strata/tensor/shape.h"

namespace strata {

namespace internal {

[[noreturn]] void throw_no_index();

// Throws ValueError if the position does not fit 64 bits with a sign.
template <std::integral T>
Index to_index(T position) {
  if constexpr (std::unsigned_integral<T> && sizeof(T) >= sizeof(Index)) {
    if (position > static_cast<T>(INT64_MAX)) throw_no_index();
  }
  return static_cast<Index>(position);
}

}  // namespace internal

// One step of a path: the name of a member or the position in a list. 1 and "1" are different keys.
// Ordered integers first, by number, then texts, by bytes.
class Key {
 public:
  template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>) Key(T position)
      : integer_(internal::to_index(position)), is_integer_(true) {}
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
// an integer, or holding a slash, a quote, a backslash or what is not printable) in single quotes, with a backslash
// before quotes and backslashes, and \n \t \r \x1f for control characters and bytes that are no UTF-8.
std::string to_string(const Key& key);
std::ostream& operator<<(std::ostream& out, const Key& key);

namespace internal {

struct PathNode;
class PathSlab;

// The last key of a path; those before it are its ancestors, which all paths through them share. `jump` leads to an
// ancestor further up, so that any of `depth` ancestors is reached in O(log depth) steps (Myers, "An applicative
// random-access stack", 1983).
struct PathNode {
  const PathNode* parent;  // null above the first key
  const PathNode* jump;
  [[no_unique_address]] Key key;  // the next two take its last bytes: 64 for all
  std::uint8_t place;             // in its slab
  std::int32_t depth;
};

// Memory of a few nodes, which stay until the last path to any of them goes.
void retain(const PathNode* node) noexcept;
void release(const PathNode* node) noexcept;

const PathNode* ancestor(const PathNode* node, int depth) noexcept;

class PathBuilder;

}  // namespace internal

// The keys from the root of a module to a variable. Ordered key by key, a path before its continuations.
//
// Paths that continue the same one share its keys: a path takes the memory of its last key (64 bytes), a copy that of a
// pointer. Reading a key takes O(log depth), comparing with a path that shares keys as many steps as they do not share.
class Path {
 public:
  class Iterator;

  Path() = default;  // the root
  Path(std::initializer_list<Key> keys) : Path(std::span<const Key>(keys.begin(), keys.size())) {}
  explicit Path(std::span<const Key> keys);

  Path(const Path& other) noexcept : node_(other.node_) {
    if (node_ != nullptr) internal::retain(node_);
  }
  Path(Path&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Path& operator=(Path other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Path() {
    if (node_ != nullptr) internal::release(node_);
  }

  // Reads what to_string writes: `encoder/0/kernel`, `heads/'0'/bias`. Digits, with an optional minus and without
  // leading zeros, are integers. The empty text is the root. Throws ValueError with the position of the mistake.
  [[nodiscard]] static Path parse(std::string_view text);

  [[nodiscard]] int depth() const noexcept { return node_ == nullptr ? 0 : node_->depth; }
  [[nodiscard]] bool empty() const noexcept { return node_ == nullptr; }

  // The key at a position below depth(), and the last key of a path that is not the root.
  [[nodiscard]] const Key& operator[](int position) const { return internal::ancestor(node_, position + 1)->key; }
  [[nodiscard]] const Key& back() const { return node_->key; }

  // The keys in order, from the root.
  [[nodiscard]] Iterator begin() const noexcept;
  [[nodiscard]] Iterator end() const noexcept;

  // The first `depth` keys of this path, at most all.
  [[nodiscard]] Path prefix(int depth) const noexcept;

  // This path continued by one key, or by another path.
  [[nodiscard]] Path operator/(Key key) const;
  [[nodiscard]] Path operator/(const Path& rest) const;

  // True if this path leads through `prefix`; every path starts with itself and with the root.
  [[nodiscard]] bool starts_with(const Path& prefix) const noexcept;

  [[nodiscard]] std::strong_ordering operator<=>(const Path& other) const noexcept;
  [[nodiscard]] bool operator==(const Path& other) const noexcept;

  [[nodiscard]] const internal::PathNode* node() const noexcept { return node_; }

 private:
  friend class internal::PathBuilder;

  const internal::PathNode* node_ = nullptr;  // null for the root
};

// Random access to the keys of a path, which must outlive it.
class Path::Iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Key;
  using difference_type = std::ptrdiff_t;
  using pointer = const Key*;
  using reference = const Key&;

  Iterator() = default;
  Iterator(const internal::PathNode* node, difference_type position) : node_(node), position_(position) {}

  reference operator*() const { return internal::ancestor(node_, static_cast<int>(position_) + 1)->key; }
  pointer operator->() const { return &**this; }
  reference operator[](difference_type n) const { return *(*this + n); }

  Iterator& operator+=(difference_type n) {
    position_ += n;
    return *this;
  }
  Iterator& operator-=(difference_type n) { return *this += -n; }
  Iterator& operator++() { return *this += 1; }
  Iterator& operator--() { return *this += -1; }
  Iterator operator++(int) { return std::exchange(*this, *this + 1); }
  Iterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend Iterator operator+(Iterator i, difference_type n) { return i += n; }
  friend Iterator operator+(difference_type n, Iterator i) { return i += n; }
  friend Iterator operator-(Iterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.position_ - b.position_; }
  std::strong_ordering operator<=>(const Iterator& other) const { return position_ <=> other.position_; }
  bool operator==(const Iterator& other) const { return position_ == other.position_; }

 private:
  const internal::PathNode* node_ = nullptr;
  difference_type position_ = 0;
};

inline Path::Iterator Path::begin() const noexcept { return {node_, 0}; }
inline Path::Iterator Path::end() const noexcept { return {node_, depth()}; }

std::string to_string(const Path& path);
std::ostream& operator<<(std::ostream& out, const Path& path);

}  // namespace strata
