// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <vector>

#include "strata/state/path.h"

namespace strata::internal {

// Compares paths of one list with those of another, where both lists are gone through in order. What is known about
// keys that neighbours share is not looked at again: two chains of n nested modules take n steps, not n^2. The paths
// must outlive it.
class PathComparer {
 public:
  std::strong_ordering operator()(const Path& a, const Path& b);

 private:
  struct Pair {
    const PathNode* a = nullptr;
    const PathNode* b = nullptr;
  };

  std::vector<Pair> equal_;  // by depth: keys that lead to the same place in both lists
  Pair different_;           // the uppermost difference met last, at this depth, or at none
  int different_depth_ = 0;
  std::strong_ordering order_ = std::strong_ordering::equal;
};

}  // namespace strata::internal
