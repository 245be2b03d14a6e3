// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string_view>

#include "strata/state/path.h"

namespace strata::internal {

// A key whose text belongs to somebody else: to the module that a walk goes through.
struct KeyView {
  std::string_view text;
  Index integer = 0;
  bool is_integer = false;

  constexpr KeyView() = default;
  constexpr KeyView(std::string_view name) : text(name) {}
  constexpr KeyView(Index position) : integer(position), is_integer(true) {}

  operator Key() const { return is_integer ? Key(integer) : Key(text); }

  std::strong_ordering operator<=>(const Key& other) const noexcept {
    if (is_integer != other.is_integer()) return other.is_integer() <=> is_integer;
    return is_integer ? integer <=> other.integer() : text <=> std::string_view(other.text());
  }
  bool operator==(const Key& other) const noexcept { return (*this <=> other) == 0; }
  bool operator==(const KeyView&) const = default;
};

}  // namespace strata::internal
