// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/state_cursor.h"

#include <algorithm>

namespace strata::internal {

std::strong_ordering StateCursor::compare_all(const Trail& trail, const PathNode* end) {
  const int depth = end == nullptr ? 0 : end->depth;
  std::strong_ordering result = trail.depth() <=> depth;
  const int common = std::min(trail.depth(), depth);
  const PathNode* const last = ancestor(end, common);
  met_.resize(static_cast<std::size_t>(std::max(trail.depth(), static_cast<int>(met_.size()))));

  // From the last key up to where both are known to be the same; the uppermost difference decides.
  int level = common;
  int equal_up_to = common;
  for (const PathNode* node = last; level > 0; node = node->parent, --level) {
    const Trail::Step& step = trail[level - 1];
    const Met& met = met_[static_cast<std::size_t>(level - 1)];
    if (met.step == step.number && met.node == node) break;
    const std::strong_ordering order = step.key <=> node->key;
    if (order == 0) continue;
    result = order;
    equal_up_to = level - 1;
  }
  const PathNode* node = ancestor(last, equal_up_to);
  for (int met = equal_up_to; met > level; --met, node = node->parent) {
    met_[static_cast<std::size_t>(met - 1)] = {trail[met - 1].number, node};
  }
  return result;
}

}  // namespace strata::internal
