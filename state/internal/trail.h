// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "strata/state/internal/node.h"
#include "strata/state/internal/path_builder.h"
#include "strata/state/path.h"

namespace strata::internal {

// The keys that lead to the place that a walk is at. Becomes a Path only where one is asked for; paths of places below
// the same group share its keys.
class Trail {
 public:
  // One key of the trail. No two steps of a walk have the same number.
  struct Step {
    KeyView key;
    std::uint64_t number = 0;
    mutable Path path;  // the path to here, once it was asked for
  };

  [[nodiscard]] int depth() const noexcept { return static_cast<int>(steps_.size()); }
  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  [[nodiscard]] const Step& operator[](int position) const { return steps_[static_cast<std::size_t>(position)]; }
  [[nodiscard]] const KeyView& back() const { return steps_.back().key; }

  [[nodiscard]] Path path() const;

  // Goes back to the first `depth` keys, then on by one.
  void go_to(std::size_t depth, const KeyView& key) {
    while (steps_.size() > depth + 1) steps_.pop_back();
    if (steps_.size() == depth) steps_.emplace_back();
    Step& step = steps_.back();
    step.key = key;
    step.number = ++last_number_;
    if (!step.path.empty()) step.path = Path();
  }

 private:
  std::vector<Step> steps_;
  std::uint64_t last_number_ = 0;
  mutable PathBuilder builder_;
};

}  // namespace strata::internal
