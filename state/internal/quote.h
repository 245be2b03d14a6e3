// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// Texts come from files and command lines; what is printed of them must not steer a terminal or look like something
// else.
namespace strata::internal {

// True without control characters (also those of Unicode that end lines or turn the direction of writing) and bytes
// that are no UTF-8.
[[nodiscard]] bool is_printable(std::string_view text);

// The text with \n \t \r and \x1f, byte by byte, for what is not printable. For the eye: backslashes stay single.
[[nodiscard]] std::string escape(std::string_view text);

// The text in single quotes, escaped, with a backslash before quotes and backslashes: what read_escape reads back.
[[nodiscard]] std::string quote_text(std::string_view text);

// Reads \' \" \\ \n \t \r or \x1f at the position and moves on; none, and no move, if there is something else.
[[nodiscard]] std::optional<char> read_escape(std::string_view text, std::size_t& position);

}  // namespace strata::internal
