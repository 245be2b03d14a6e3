// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/state/internal/node.h"
#include "strata/state/internal/trail.h"

namespace strata::internal {

// What a walk meets, with the keys that lead there, which are valid during the call. Functions that a walker does not
// need stay empty.
class WalkHandler {
 public:
  virtual void variable(const Trail&, Variable&, Node /*place*/) {}
  virtual void group(const Trail&, Node) {}
  virtual void value(const Trail&, Node) {}

  // A place that stands for another object: `target` is null if it is empty. Called before what it holds is visited.
  virtual void holder(const Trail&, Node /*place*/, Node /*target*/) {}

  // The same for a shared_ptr. Objects are numbered in the order in which they are first met; the root is number 0.
  // Only the first place is followed.
  virtual void shared(const Trail&, Node /*place*/, Node /*target*/, Index /*number*/, bool /*first*/) {}

  virtual ~WalkHandler() = default;
};

// Visits everything below root, depth first, children in the order of their keys, every shared object once. Needs no
// recursion, so that the depth of a module is limited by memory only. A walker may replace the target of a `shared`
// place while it is told of it; the walk then goes on in the new target.
void walk(Node root, WalkHandler& handler);

}  // namespace strata::internal
