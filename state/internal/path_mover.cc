// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/path_mover.h"

namespace strata::internal {

Path PathMover::operator()(const Path& path) {
  steps_.resize(static_cast<std::size_t>(path.depth() - dropped_));
  std::size_t known = steps_.size();
  for (const PathNode* node = path.node(); known > 0 && steps_[known - 1].from != node; node = node->parent) {
    steps_[--known].from = node;
  }
  for (; known < steps_.size(); ++known) {
    const Path& parent = known == 0 ? root_ : steps_[known - 1].to;
    const Key& key = steps_[known].from->key;
    steps_[known].to = builder_.append(parent, change_ == nullptr ? key : change_(key));
  }
  return steps_.empty() ? root_ : steps_.back().to;
}

}  // namespace strata::internal
