// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "strata/state/internal/path_builder.h"
#include "strata/state/path.h"

namespace strata::internal {

// Moves paths to another root: their first `dropped` keys give way to those of `root`, and the others to what `change`
// makes of them. Paths that shared keys share them again if they come in order. The paths must outlive it.
class PathMover {
 public:
  PathMover(Path root, int dropped, Key (*change)(const Key&) = nullptr)
      : root_(std::move(root)), dropped_(dropped), change_(change) {}

  // The path has at least `dropped` keys.
  Path operator()(const Path& path);

 private:
  struct Step {
    const PathNode* from = nullptr;
    Path to;
  };

  Path root_;
  int dropped_;
  Key (*change_)(const Key&);
  std::vector<Step> steps_;  // the keys of the last path that were kept
  PathBuilder builder_;
};

}  // namespace strata::internal
