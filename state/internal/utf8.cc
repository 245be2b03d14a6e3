// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/utf8.h"

namespace strata::internal {

char32_t next_character(std::string_view text, std::size_t& position) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  constexpr char32_t stray_byte = 0x110000;
  const unsigned char head = byte(position++);
  if (head < 0x80) return head;
  const std::size_t more = head >= 0xF0 && head < 0xF8 ? 3 : head >= 0xE0 ? 2 : 1;
  if (head < 0xC2 || head >= 0xF8 || position + more > text.size()) return stray_byte + head;
  char32_t character = head & (0x3Fu >> more);
  for (std::size_t i = 0; i < more; ++i) {
    if ((byte(position + i) & 0xC0u) != 0x80u) return stray_byte + head;
    character = (character << 6) | (byte(position + i) & 0x3Fu);
  }
  position += more;
  return character;
}

std::u32string to_characters(std::string_view text) {
  std::u32string characters;
  characters.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) characters += next_character(text, position);
  return characters;
}

}  // namespace strata::internal
