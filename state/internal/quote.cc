// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/quote.h"

#include "strata/state/internal/utf8.h"

namespace strata::internal {
namespace {

constexpr std::string_view escaped_names = "ntr";
constexpr std::string_view escaped_characters = "\n\t\r";

bool is_printable(char32_t character) {
  if (character < 0x20 || (character >= 0x7F && character < 0xA0)) return false;
  if (character >= 0x2028 && character <= 0x202E) return false;  // ends of lines, directions
  if (character >= 0x2066 && character <= 0x2069) return false;  // directions
  return character <= 0x10FFFF;                                  // others are bytes that are no UTF-8
}

void append_byte(std::string& text, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  text += '\\';
  if (const std::size_t which = escaped_characters.find(c); which != std::string_view::npos) {
    text += escaped_names[which];
  } else {
    text += 'x';
    text += digits[byte >> 4];
    text += digits[byte & 15U];
  }
}

std::string escape(std::string_view text, std::string_view with_backslash) {
  std::string result;
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t begin = position;
    const char32_t character = next_character(text, position);
    const std::string_view bytes = text.substr(begin, position - begin);
    if (!is_printable(character)) {
      for (const char c : bytes) append_byte(result, c);
      continue;
    }
    if (with_backslash.find(bytes.front()) != std::string_view::npos) result += '\\';
    result += bytes;
  }
  return result;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool is_printable(std::string_view text) {
  for (std::size_t position = 0; position < text.size();) {
    if (!is_printable(next_character(text, position))) return false;
  }
  return true;
}

std::string escape(std::string_view text) { return escape(text, ""); }

std::string quote_text(std::string_view text) { return "'" + escape(text, "'\\") + "'"; }

std::optional<char> read_escape(std::string_view text, std::size_t& position) {
  if (position + 1 >= text.size() || text[position] != '\\') return std::nullopt;
  const char next = text[position + 1];
  if (std::string_view("'\"\\").find(next) != std::string_view::npos) {
    position += 2;
    return next;
  }
  if (const std::size_t which = escaped_names.find(next); which != std::string_view::npos) {
    position += 2;
    return escaped_characters[which];
  }
  if (next != 'x' || position + 3 >= text.size()) return std::nullopt;
  const int high = hex_digit(text[position + 2]);
  const int low = hex_digit(text[position + 3]);
  if (high < 0 || low < 0) return std::nullopt;
  position += 4;
  return static_cast<char>(high * 16 + low);
}

}  // namespace strata::internal
