// SPDX-License-Identifier: Apache-2.0
#include "strata/state/path.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <ostream>

#include "strata/state/internal/path_builder.h"
#include "strata/state/internal/quote.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

// An integer in its only spelling: no plus, no leading zeros, no minus zero, within 64 bits.
std::optional<Index> parse_integer(std::string_view text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || std::to_string(value) != text) return std::nullopt;
  return value;
}

bool needs_quotes(std::string_view text) {
  return text.empty() || text.find_first_of("/'\\") != std::string_view::npos || parse_integer(text).has_value() ||
         !internal::is_printable(text);
}

class PathReader {
 public:
  explicit PathReader(std::string_view text) : text_(text) {}

  Path read() {
    if (text_.empty()) return Path();
    internal::PathBuilder builder;
    Path path = builder.append(Path(), read_key());
    while (position_ < text_.size()) {
      if (text_[position_] != '/') fail("expected a slash");
      ++position_;
      path = builder.append(path, read_key());
    }
    return path;
  }

 private:
  Key read_key() {
    if (position_ < text_.size() && text_[position_] == '\'') return read_quoted();
    const std::size_t end = std::min(text_.find('/', position_), text_.size());
    const std::string_view part = text_.substr(position_, end - position_);
    if (part.empty()) fail("a key is missing (write '' for an empty one)");
    if (const std::size_t bad = part.find_first_of("'\\"); bad != std::string_view::npos) {
      position_ += bad;
      fail("a key with quotes or backslashes must stand in single quotes");
    }
    position_ = end;
    if (const std::optional<Index> integer = parse_integer(part)) return Key(*integer);
    return Key(part);
  }

  Key read_quoted() {
    std::string key;
    for (++position_; position_ < text_.size();) {
      if (text_[position_] == '\'') {
        ++position_;
        return Key(std::move(key));
      }
      if (const std::optional<char> escaped = internal::read_escape(text_, position_)) {
        key += *escaped;
        continue;
      }
      if (text_[position_] == '\\' && position_ + 1 < text_.size()) ++position_;
      key += text_[position_++];
    }
    fail("the closing quote is missing");
  }

  [[noreturn]] void fail(const char* what) const {
    throw ValueError("[Path::parse] " + std::string(what) + " at character " + std::to_string(position_ + 1) +
                     " of \"" + std::string(text_) + "\".");
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

void internal::throw_no_index() {
  throw ValueError("[Key] an integer key is a position of at most 2^63 - 1. Take a text for larger numbers.");
}

std::string to_string(const Key& key) {
  if (key.is_integer()) return std::to_string(key.integer());
  return needs_quotes(key.text()) ? internal::quote_text(key.text()) : key.text();
}

std::ostream& operator<<(std::ostream& out, const Key& key) { return out << to_string(key); }

Path::Path(std::span<const Key> keys) {
  internal::PathBuilder builder(static_cast<int>(keys.size()));
  for (const Key& key : keys) *this = builder.append(*this, key);
}

Path Path::parse(std::string_view text) { return PathReader(text).read(); }

Path Path::prefix(int depth) const noexcept {
  Path result;
  result.node_ = internal::ancestor(node_, depth);
  if (result.node_ != nullptr) internal::retain(result.node_);
  return result;
}

Path Path::operator/(Key key) const { return internal::PathBuilder(1).append(*this, std::move(key)); }

Path Path::operator/(const Path& rest) const {
  if (empty()) return rest;
  internal::PathBuilder builder(rest.depth());
  Path result = *this;
  for (const Key& key : rest) result = builder.append(result, key);
  return result;
}

bool Path::starts_with(const Path& prefix) const noexcept {
  return prefix.depth() <= depth() && this->prefix(prefix.depth()) == prefix;
}

std::strong_ordering Path::operator<=>(const Path& other) const noexcept {
  std::strong_ordering result = depth() <=> other.depth();
  const internal::PathNode* a = internal::ancestor(node_, other.depth());
  const internal::PathNode* b = internal::ancestor(other.node_, depth());
  for (; a != b; a = a->parent, b = b->parent) {
    if (const std::strong_ordering order = a->key <=> b->key; order != 0) result = order;  // the uppermost decides
  }
  return result;
}

bool Path::operator==(const Path& other) const noexcept {
  if (depth() != other.depth()) return false;
  const internal::PathNode* a = node_;
  const internal::PathNode* b = other.node_;
  while (a != b && a->key == b->key) {
    a = a->parent;
    b = b->parent;
  }
  return a == b;
}

std::string to_string(const Path& path) {
  std::string text;
  for (const Key& key : path) {
    text += to_string(key);
    text += '/';
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::ostream& operator<<(std::ostream& out, const Path& path) { return out << to_string(path); }

}  // namespace strata
