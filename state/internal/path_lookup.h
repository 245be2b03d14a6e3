// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "strata/state/path.h"

namespace strata::internal {

struct FoundPath {
  std::size_t place;
  bool as_is;  // not with integers in place of its texts of digits
};

// Looks for each path in a list that is in order: as it is, and then with all texts of digits read as integers. Paths
// of the two lists need not share keys; what is compared grows with the keys of both lists, not with their depths.
[[nodiscard]] std::vector<std::optional<FoundPath>> find_paths(std::span<const Path> wanted,
                                                               std::span<const Path> known);

// The key, or the integer that it stands for.
[[nodiscard]] Key read_key(const Key& key);

}  // namespace strata::internal
