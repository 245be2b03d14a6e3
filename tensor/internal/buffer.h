// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace strata::internal {

// A block of bytes that tensors share. Whoever writes holds the only reference.
struct Buffer {
  // Uninitialised bytes, aligned for every vector instruction set.
  explicit Buffer(std::size_t num_bytes);

  // Memory of somebody else, kept alive by another owner: readable only.
  Buffer(const std::byte* foreign, std::shared_ptr<const void> keep_alive);

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  std::byte* data;
  std::shared_ptr<const void> owner;  // null for memory of our own
  bool read_only;
};

}  // namespace strata::internal
