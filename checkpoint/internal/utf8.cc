// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/utf8.h"

#include <cstddef>

namespace strata::checkpoint::internal {
namespace {

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

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Continuation expected = continuation_of(static_cast<unsigned char>(text[i]));
    if (expected.low > expected.high || text.size() - i <= expected.count) return false;
    for (std::size_t k = 1; k <= expected.count; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if (byte < (k == 1 ? expected.low : 0x80) || byte > (k == 1 ? expected.high : 0xbf)) return false;
    }
    i += expected.count;
  }
  return true;
}

}  // namespace strata::checkpoint::internal
