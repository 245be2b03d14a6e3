// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/buffer.h"

#include <new>
#include <utility>

namespace strata::internal {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

Buffer::Buffer(std::size_t num_bytes)
    : data(static_cast<std::byte*>(::operator new(num_bytes, alignment))), read_only(false) {}

Buffer::Buffer(const std::byte* foreign, std::shared_ptr<const void> keep_alive)
    : data(const_cast<std::byte*>(foreign)), owner(std::move(keep_alive)), read_only(true) {}

Buffer::~Buffer() {
  if (!read_only) ::operator delete(data, alignment);
}

}  // namespace strata::internal
