// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/internal/buffer.h"
#include "strata/tensor/tensor.h"

namespace strata::internal {

// The door for operations that need what users must not touch: the tape and the identity of the buffer.
struct TensorAccess {
  static TapeSlot& tape(Tensor& t) { return t.tape_; }
  static const TapeSlot& tape(const Tensor& t) { return t.tape_; }
  static const std::shared_ptr<Buffer>& buffer(const Tensor& t) { return t.buffer_; }

  // The elements [first, first + shape.num_elements()) under another shape, sharing the buffer, not tracked.
  static Tensor alias(const Tensor& t, Index first, const Shape& shape);
};

}  // namespace strata::internal
