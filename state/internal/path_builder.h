// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "strata/state/internal/key_view.h"
#include "strata/state/path.h"

namespace strata::internal {

// Makes paths. Their last keys lie side by side in slabs of at most 32, so that a thousand paths take fifty
// allocations.
class PathBuilder {
 public:
  PathBuilder() = default;
  explicit PathBuilder(int expected) : next_capacity_(std::clamp(expected, 1, max_capacity)) {}
  PathBuilder(const PathBuilder&) = delete;
  PathBuilder& operator=(const PathBuilder&) = delete;
  ~PathBuilder();

  // `parent` continued by a key.
  Path append(const Path& parent, Key key) { return append_key(parent.node_, std::move(key)); }
  Path append(const Path& parent, const KeyView& key) { return append_key(parent.node_, key); }

 private:
  static constexpr int max_capacity = 32;

  template <class K>
  Path append_key(const PathNode* parent, K&& key);

  PathSlab* slab_ = nullptr;
  int next_capacity_ = 1;
};

}  // namespace strata::internal
