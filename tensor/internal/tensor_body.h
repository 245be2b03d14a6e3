// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "strata/tensor/dtype.h"
#include "strata/tensor/shape.h"

namespace strata::internal {

class Tape;

// Where a tensor stands in a gradient tape; empty for a tensor that no gradient is asked of.
struct TapeSlot {
  std::shared_ptr<Tape> tape;
  Index slot = -1;
};

// What copies of a tensor share. Never changed while there is more than one reference to it.
struct TensorBody {
  // Uninitialised elements, aligned for every vector instruction set. Throws std::bad_alloc.
  TensorBody(const Shape& shape, DType dtype, std::size_t num_bytes);

  // Elements in memory that `owner` keeps alive.
  TensorBody(const Shape& shape, DType dtype, std::byte* data, bool read_only, std::shared_ptr<const void> owner);

  TensorBody(const TensorBody&) = delete;
  TensorBody& operator=(const TensorBody&) = delete;
  ~TensorBody();

  const Shape shape;
  const DType dtype;
  const bool read_only;  // memory of somebody else
  std::byte* const data;
  const std::shared_ptr<const void> owner;  // of the memory, if that is another body or somebody else
  TapeSlot tape;
};

// That of a tensor without one: float32 of shape [0].
const TensorBody& empty_body() noexcept;

}  // namespace strata::internal
