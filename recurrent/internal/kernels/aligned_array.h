// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "strata/tensor/shape.h"

namespace strata::recurrent::internal {

struct AlignedBytes {
  void* data;
  std::size_t size;
};

// At least so many uninitialised bytes, aligned for every vector instruction set; from 1 MiB on at 2 MiB and in huge
// pages where the system grants them. Large blocks that were freed are kept for the next time, up to a limit.
[[nodiscard]] AlignedBytes allocate_aligned(std::size_t bytes);
void free_aligned(const AlignedBytes& block) noexcept;

// An array of numbers for kernels. Growing discards the contents; shrinking keeps the memory. Moved
// from, it is empty.
template <class T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(Index size) { resize(size); }
  AlignedArray(AlignedArray&& from) noexcept { *this = std::move(from); }
  AlignedArray& operator=(AlignedArray&& from) noexcept {
    data_ = std::move(from.data_);
    size_ = std::exchange(from.size_, 0);
    capacity_ = std::exchange(from.capacity_, 0);
    return *this;
  }

  void resize(Index size) {
    if (size > capacity_) {
      data_.reset();
      size_ = capacity_ = 0;  // if the allocation fails
      const AlignedBytes block = allocate_aligned(static_cast<std::size_t>(size) * sizeof(T));
      data_ = {static_cast<T*>(block.data), Deleter{block.size}};
      capacity_ = size;
    }
    size_ = size;
  }
  void fill_zero() { std::fill_n(data_.get(), size_, T{0}); }

  [[nodiscard]] T* data() noexcept { return data_.get(); }
  [[nodiscard]] const T* data() const noexcept { return data_.get(); }
  [[nodiscard]] Index size() const noexcept { return size_; }

 private:
  struct Deleter {
    std::size_t bytes = 0;
    void operator()(T* data) const noexcept { free_aligned({data, bytes}); }
  };

  std::unique_ptr<T[], Deleter> data_;
  Index size_ = 0;
  Index capacity_ = 0;
};

}  // namespace strata::recurrent::internal
