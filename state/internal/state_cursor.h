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
      const std::strong_ordering order = compare(trail, next_->path.node());
      if (order < 0) return nullptr;
      if (order == 0) return take();
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
  // The next entry. What it points to lies anywhere in memory and is asked for a few entries ahead.
  const State::Entry* take() {
    constexpr std::ptrdiff_t ahead = 4;
    if (end_ - next_ > ahead) __builtin_prefetch(&next_[ahead].variable.value().shape());
    return &*next_++;
  }

  // Most places and entries stand right below those of the call before: then only their last keys are looked at.
  std::strong_ordering compare(const Trail& trail, const PathNode* node) {
    const int above = trail.depth() - 2;
    if (above >= 0 && node != nullptr && node->parent != nullptr && above < static_cast<int>(met_.size())) {
      const Met& met = met_[static_cast<std::size_t>(above)];
      if (met.node == node->parent && met.step == trail[above].number) return trail.back() <=> node->key;
    }
    return compare_all(trail, node);
  }

  // A step of the trail that leads to the same path as a node does.
  struct Met {
    std::uint64_t step = 0;
    const PathNode* node = nullptr;
  };

  std::strong_ordering compare_all(const Trail& trail, const PathNode* end);

  decltype(std::declval<const State&>().begin()) next_;
  decltype(next_) end_;
  std::vector<Met> met_;  // by position in the trail
};

}  // namespace strata::internal
