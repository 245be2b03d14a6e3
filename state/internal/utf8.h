// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace strata::internal {

// The character at the byte `position`, which moves on to the next one. A byte that is no part of well-formed UTF-8
// (Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF) is a character of its own, outside
// Unicode.
char32_t next_character(std::string_view text, std::size_t& position) noexcept;

[[nodiscard]] std::u32string to_characters(std::string_view text);

// True if every byte belongs to a character.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace strata::internal
