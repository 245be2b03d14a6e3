// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace strata::internal {

// The name of T as the compiler spells it.
template <class T>
constexpr std::string_view type_name() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;  // "... type_name() [with T = X; ...]" or "... [T = X]"
  constexpr std::size_t begin = text.find("T = ") + 4;
  constexpr std::size_t end =
      text.find_first_of(";", begin) != text.npos ? text.find_first_of(";", begin) : text.rfind(']');
  return text.substr(begin, end - begin);
}

}  // namespace strata::internal
