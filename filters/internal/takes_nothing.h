// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "strata/filters/filter.h"
#include "strata/state/state.h"

namespace strata::internal {

// For an error: the filter `tag('lroa')` takes none of the module's 5 variables. It names what no variable has: ...
[[nodiscard]] std::string takes_nothing(const State& state, const Filter& filter);

}  // namespace strata::internal
