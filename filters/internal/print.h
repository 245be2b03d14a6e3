// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "strata/filters/filter.h"

namespace strata::internal {

// The text form; of one longer than `max_length` bytes the beginning, closed by `...`.
[[nodiscard]] std::string print(const Filter& filter, std::size_t max_length);

// The text form within a message.
[[nodiscard]] inline std::string quote(const Filter& filter) { return "`" + print(filter, 200) + "`"; }

}  // namespace strata::internal
