// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace strata::internal {

// The character at the byte `position`, which moves on to the next one. A byte that is no part of UTF-8 is a character
// of its own, outside Unicode.
char32_t next_character(std::string_view text, std::size_t& position);

[[nodiscard]] std::u32string to_characters(std::string_view text);

}  // namespace strata::internal
