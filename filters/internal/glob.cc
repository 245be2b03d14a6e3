// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/glob.h"

#include <algorithm>

#include "strata/filters/internal/pattern_error.h"
#include "strata/filters/internal/wildcards.h"
#include "strata/state/internal/utf8.h"

namespace strata::internal {

// Reads a pattern from left to right.
class Glob::Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Segment> read() {
    std::vector<Segment> segments;
    if (text_.empty()) return segments;
    segments.push_back(read_segment());
    while (position_ < text_.size()) {
      ++position_;  // the slash
      segments.push_back(read_segment());
    }
    return segments;
  }

 private:
  Segment read_segment() {
    Segment segment;
    const std::size_t begin = position_;
    while (position_ < text_.size() && text_[position_] != '/') segment.items.push_back(read_item());
    segment.text = text_.substr(begin, position_ - begin);
    if (segment.text == "**") return {.is_star = true, .is_plain = false, .text = {}, .items = {}};
    if (const std::size_t stars = segment.text.find("**"); stars != std::string::npos) {
      throw PatternError{"`**` stands for whole keys, between slashes", begin + stars};
    }
    segment.is_plain = segment.text.find_first_of("*?[") == std::string::npos;
    if (segment.is_plain) segment.items.clear();
    return segment;
  }

  Item read_item() {
    constexpr Range any_character{0, static_cast<char32_t>(-1)};
    switch (text_[position_]) {
      case '*':
        ++position_;
        return {.is_star = true, .is_negated = false, .ranges = {}};
      case '?':
        ++position_;
        return {.is_star = false, .is_negated = false, .ranges = {any_character}};
      case '[':
        return read_class();
      default:
        const char32_t character = next_character(text_, position_);
        return {.is_star = false, .is_negated = false, .ranges = {{character, character}}};
    }
  }

  Item read_class() {
    const std::size_t begin = position_++;
    Item item;
    item.is_negated = position_ < text_.size() && text_[position_] == '!';
    if (item.is_negated) ++position_;
    do {
      if (position_ >= text_.size()) throw PatternError{"the closing `]` is missing", begin};
      const std::size_t range_begin = position_;
      const char32_t first = next_character(text_, position_);
      char32_t last = first;
      if (position_ + 1 < text_.size() && text_[position_] == '-' && text_[position_ + 1] != ']') {
        last = next_character(text_, ++position_);
      }
      if (last < first) throw PatternError{"the range is empty: its ends are the wrong way round", range_begin};
      item.ranges.push_back({first, last});
    } while (position_ >= text_.size() || text_[position_] != ']');
    ++position_;
    return item;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

Glob::Glob(std::string pattern) : pattern_(std::move(pattern)), segments_(Reader(pattern_).read()) {}

bool Glob::fits(const Item& item, char32_t character) {
  const bool in_ranges = std::any_of(item.ranges.begin(), item.ranges.end(), [&](const Range& range) {
    return range.first <= character && character <= range.last;
  });
  return in_ranges != item.is_negated;
}

bool Glob::fits(const Segment& segment, const Key& key) {
  if (segment.is_plain && !key.is_integer()) return segment.text == key.text();
  const std::string text = key.is_integer() ? std::to_string(key.integer()) : key.text();
  if (segment.is_plain) return segment.text == text;
  const std::u32string characters = to_characters(text);
  return match_wildcards(
      segment.items.size(), characters.size(), [&](std::size_t item) { return segment.items[item].is_star; },
      [&](std::size_t item, std::size_t i) { return fits(segment.items[item], characters[i]); });
}

bool Glob::matches(const Path& path) const {
  return match_wildcards(
      segments_.size(), static_cast<std::size_t>(path.depth()), [&](std::size_t s) { return segments_[s].is_star; },
      [&](std::size_t s, std::size_t i) { return fits(segments_[s], path[static_cast<int>(i)]); });
}

}  // namespace strata::internal
