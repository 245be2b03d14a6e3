// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "strata/tensor/tensor.h"

namespace strata::internal {

// The door for operations that need what users must not touch: the tape, and who else holds the elements.
struct TensorAccess {
  static const TapeSlot& tape(const Tensor& t) { return t.body().tape; }

  // Copies that were made before are not tracked by it.
  static void set_tape(Tensor& t, TapeSlot slot) {
    if (t.body_.use_count() != 1) t = alias(t, 0, t.shape());
    t.body_->tape = std::move(slot);
  }

  // Whether writing needs no copy of the elements.
  static bool owns_elements(const Tensor& t) { return t.owns_elements(); }

  // The elements [first, first + shape.num_elements()) under another shape, in the same memory, not tracked.
  static Tensor alias(const Tensor& t, Index first, const Shape& shape);
};

}  // namespace strata::internal
