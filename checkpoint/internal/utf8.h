// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace strata::checkpoint::internal {

// True for well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace strata::checkpoint::internal
