// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <vector>

#include "strata/state/internal/trail.h"
#include "strata/state/state.h"

namespace strata::internal {

// Goes through a state side by side with a walk through a module: both are in the order of the paths.
class StateCursor {
 public:
  explicit StateCursor(const State& state) : next_(state.begin()), end_(state.end()) {}

  // The entry at the place of the walk, or null. Calls skipped(entry) for every entry before it.
  template <class F>
  const State::Entry* seek(const Trail& trail, F&& skipped) {
    for (; next_ != end_; ++next_) {
      const std::strong_ordering order = compare(trail, next_->path);
      if (order < 0) return nullptr;
      if (order == 0) return &*next_++;
      skipped(*next_);
    }
    return nullptr;
  }

  // Calls skipped(entry) for every entry that is left.
  template <class F>
  void finish(F&& skipped) {
    for (; next_ != end_; ++next_) skipped(*next_);
  }

 private:
  // A step of the trail that leads to the same path as a node does.
  struct Met {
    std::uint64_t step = 0;
    const PathNode* node = nullptr;
  };

  std::strong_ordering compare(const Trail& trail, const Path& path);

  decltype(std::declval<const State&>().begin()) next_;
  decltype(next_) end_;
  std::vector<Met> met_;  // by position in the trail
};

}  // namespace strata::internal
