// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::internal {

// "Did you mean `Param`, `Params` or `Parm`? ", with a blank after it: up to three names that are spelt almost like the
// word, the nearest first; empty if there is none.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace strata::internal
