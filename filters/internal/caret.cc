// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/caret.h"

#include <algorithm>

#include "strata/state/internal/utf8.h"

namespace strata::internal {
namespace {

// So many bytes are shown on either side.
constexpr std::size_t shown = 60;

bool within_character(std::string_view text, std::size_t position) {
  return position < text.size() && (static_cast<unsigned char>(text[position]) & 0xC0u) == 0x80u;
}

// Each character takes one column: those that would not are shown as blanks or question marks.
std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t begin = position;
    const char32_t character = next_character(text, position);
    if (character < 0x20 || character == 0x7F) {
      result += ' ';
    } else if (character > 0x10FFFF) {
      result += '?';
    } else {
      result += text.substr(begin, position - begin);
    }
  }
  return result;
}

}  // namespace

std::size_t column_of(std::string_view text, std::size_t position) {
  return to_characters(text.substr(0, position)).size() + 1;
}

std::string point_at(std::string_view text, std::size_t position, std::size_t length) {
  std::size_t begin = position > shown ? position - shown : 0;
  std::size_t end = std::min(text.size(), position + shown);
  for (int i = 0; i < 3 && begin > 0 && within_character(text, begin); ++i) --begin;
  for (int i = 0; i < 3 && within_character(text, end); ++i) ++end;
  const std::string head = begin == 0 ? "" : "...";
  const std::string tail = end == text.size() ? "" : "...";
  const std::size_t indent = head.size() + column_of(text.substr(begin), position - begin) - 1;
  const std::size_t drawn = column_of(text.substr(position), std::min(length, end - position)) - 1;
  return "  " + head + printable(text.substr(begin, end - begin)) + tail + "\n  " + std::string(indent, ' ') + "^" +
         std::string(drawn > 1 ? drawn - 1 : 0, '~');
}

}  // namespace strata::internal
