// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace strata::internal {

// What is wrong with a pattern, and at which byte of it. Its callers know what to call the pattern.
struct PatternError {
  std::string what;
  std::size_t position;
};

}  // namespace strata::internal
