// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/path_comparer.h"

#include <algorithm>

namespace strata::internal {

std::strong_ordering PathComparer::operator()(const Path& a, const Path& b) {
  const int common = std::min(a.depth(), b.depth());
  if (different_depth_ != 0 && different_depth_ <= common && ancestor(a.node(), different_depth_) == different_.a &&
      ancestor(b.node(), different_depth_) == different_.b) {
    return order_;
  }
  different_depth_ = 0;
  order_ = a.depth() <=> b.depth();
  equal_.resize(std::max(equal_.size(), static_cast<std::size_t>(common)));

  // From the last common depth up to where both are known to be the same; the uppermost difference decides.
  Pair pair{ancestor(a.node(), common), ancestor(b.node(), common)};
  const Pair last = pair;
  int level = common;
  for (; level > 0 && pair.a != pair.b; --level, pair = {pair.a->parent, pair.b->parent}) {
    const Pair& met = equal_[static_cast<std::size_t>(level - 1)];
    if (met.a == pair.a && met.b == pair.b) break;
    const std::strong_ordering order = pair.a->key <=> pair.b->key;
    if (order == 0) continue;
    order_ = order;
    different_ = pair;
    different_depth_ = level;
  }
  const int equal_up_to = different_depth_ == 0 ? common : different_depth_ - 1;
  pair = {ancestor(last.a, equal_up_to), ancestor(last.b, equal_up_to)};
  for (int depth = equal_up_to; depth > level; --depth, pair = {pair.a->parent, pair.b->parent}) {
    equal_[static_cast<std::size_t>(depth - 1)] = pair;
  }
  return order_;
}

}  // namespace strata::internal
