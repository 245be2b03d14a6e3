// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "strata/state/internal/fitting.h"
#include "strata/state/internal/node_of.h"

namespace strata::internal {

// Makes the copy that copy_or_queue began: carries out the queue, then gives every shared_ptr below root a fresh object
// in place of the one that the original shares, the same for all places that share it. Throws StateError if a
// shared_ptr leads back to the root itself, which the copy is not yet held by, or points to a member of another object.
void finish_clone(Node root, Node original, PendingCopies& pending);

// What finish_blank_clone says about the copy.
struct BlankClone {
  Forms forms;             // what the variables were like
  bool needs_dismantling;  // it may hold cycles or long chains of owners
};

// The same, and takes the values out of the variables. `walked`: the original was walked through before, so that its
// pointers are known to be in order.
BlankClone finish_blank_clone(Node root, Node original, PendingCopies& pending, bool walked);

// A module of its own: variables share their tensors' elements until one is written to, shared objects are fresh, with
// the same sharing among them.
template <class M>
M clone(const M& module) {
  PendingCopies pending;
  M copy = copy_or_queue(module);
  queue_copy(copy, module, pending);
  finish_clone(node_of(copy), node_of(module), pending);
  return copy;
}

// Takes the pointers out of everything below root and destroys what they own in a loop: chains as long as memory, and
// cycles that nothing else holds, come down without recursion. Only for a module that shares no object with another
// one.
void dismantle(Node root);

}  // namespace strata::internal
