// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/filters/internal/filter_node.h"

namespace strata::internal {

// True if the part takes the variable; of parts that look at a variable themselves.
[[nodiscard]] bool takes(const FilterPart& part, const Path& path, const Variable& variable);

// True if one key is as PathContains or PathLike want it.
[[nodiscard]] inline bool fits(const PathContains& part, const Key& key) { return key == part.key; }
[[nodiscard]] bool fits(const PathLike& part, const Key& key);

}  // namespace strata::internal
