// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "strata/state/path.h"

namespace strata::internal {

// "a, b, c": the offenders of an error, up to ten, then how many more there are.
std::string list_offenders(const std::vector<std::string>& offenders);

// The path as it stands in messages, where the root needs a name.
std::string shown(const Path& path);

}  // namespace strata::internal
