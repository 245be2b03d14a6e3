// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace strata::internal {

// The hash of a sequence, given that of what came before and of its next part.
[[nodiscard]] constexpr std::size_t mix_hash(std::size_t before, std::size_t next) {
  return before ^ (next + 0x9e3779b97f4a7c15 + (before << 6) + (before >> 2));
}

}  // namespace strata::internal
