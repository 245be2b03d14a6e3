// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/utf8.h"

#include <cstddef>

namespace strata::internal {
namespace {

constexpr char32_t last_character = 0x10FFFF;

// What may follow a leading byte: how many bytes, and the range of the first of them; the others are 80 to bf.
struct Continuation {
  std::size_t count;
  unsigned char low;
  unsigned char high;
};

Continuation continuation_of(unsigned char lead) {
  constexpr Continuation invalid{.count = 0, .low = 1, .high = 0};
  if (lead < 0x80) return {.count = 0, .low = 0, .high = 0};
  if (lead < 0xc2) return invalid;
  if (lead < 0xe0) return {.count = 1, .low = 0x80, .high = 0xbf};
  if (lead == 0xe0) return {.count = 2, .low = 0xa0, .high = 0xbf};
  if (lead == 0xed) return {.count = 2, .low = 0x80, .high = 0x9f};
  if (lead < 0xf0) return {.count = 2, .low = 0x80, .high = 0xbf};
  if (lead == 0xf0) return {.count = 3, .low = 0x90, .high = 0xbf};
  if (lead < 0xf4) return {.count = 3, .low = 0x80, .high = 0xbf};
  if (lead == 0xf4) return {.count = 3, .low = 0x80, .high = 0x8f};
  return invalid;
}

}  // namespace

char32_t next_character(std::string_view text, std::size_t& position) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(position++);
  const char32_t stray_byte = last_character + 1 + lead;
  const auto [count, low, high] = continuation_of(lead);
  if (low > high || text.size() - position < count) return stray_byte;
  char32_t character = count == 0 ? lead : lead & (0x3Fu >> count);
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned char next = byte(position + i);
    if (next < (i == 0 ? low : 0x80) || next > (i == 0 ? high : 0xbf)) return stray_byte;
    character = (character << 6) | (next & 0x3Fu);
  }
  position += count;
  return character;
}

std::u32string to_characters(std::string_view text) {
  std::u32string characters;
  characters.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) characters += next_character(text, position);
  return characters;
}

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t position = 0; position < text.size();) {
    if (next_character(text, position) > last_character) return false;
  }
  return true;
}

}  // namespace strata::internal
