// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace strata::internal {

// The column, from 1 and in characters, of the byte `position`.
[[nodiscard]] std::size_t column_of(std::string_view text, std::size_t position);

// Two lines: the text around the byte `position`, and a caret under it that is drawn out over `length` bytes:
//
//   Parm & path('encoder')
//   ^~~~
[[nodiscard]] std::string point_at(std::string_view text, std::size_t position, std::size_t length);

}  // namespace strata::internal
