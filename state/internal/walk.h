// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "strata/state/internal/node.h"
#include "strata/state/path.h"

namespace strata::internal {

// What a walk meets, with the keys that lead there. Functions that a walker does not need stay empty.
class WalkHandler {
 public:
  virtual void variable(std::span<const Key>, Variable&, Node /*place*/) {}
  virtual void group(std::span<const Key>, Node) {}
  virtual void value(std::span<const Key>, Node) {}

  // A place that stands for another object: `target` is null if it is empty. Called before what it holds is visited.
  virtual void holder(std::span<const Key>, Node /*place*/, Node /*target*/) {}

  // The same for a shared_ptr. Objects are numbered in the order in which they are first met; the root is number 0.
  // Only the first place is followed.
  virtual void shared(std::span<const Key>, Node /*place*/, Node /*target*/, Index /*number*/, bool /*first*/) {}

  virtual ~WalkHandler() = default;
};

// Visits everything below root, depth first, children in the order of their keys, every shared object once. Needs no
// recursion, so that the depth of a module is limited by memory only. A walker may replace the target of a `shared`
// place while it is told of it; the walk then goes on in the new target.
void walk(Node root, WalkHandler& handler);

}  // namespace strata::internal
