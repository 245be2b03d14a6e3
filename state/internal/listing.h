// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace strata::internal {

// "a, b, c": the offenders of an error, up to ten, then how many more there are.
std::string list_offenders(const std::vector<std::string>& offenders);

}  // namespace strata::internal
