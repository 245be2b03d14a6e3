// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/kernels/aligned_array.h"

#include <array>
#include <mutex>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace strata::recurrent::internal {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t huge_from = std::size_t{1} << 20;

void* allocate(std::size_t bytes) {
  if (bytes < huge_from) return ::operator new (bytes, std::align_val_t{64});
  void* data = ::operator new (bytes, std::align_val_t{huge_page});
#ifdef __linux__
  // A refusal costs speed only.
  static_cast<void>(madvise(data, bytes, MADV_HUGEPAGE));
#endif
  return data;
}

void release(void* data, std::size_t bytes) noexcept {
  ::operator delete (data, std::align_val_t{bytes < huge_from ? 64 : huge_page});
}

// Blocks of some size that were given back. A training loop asks for the same ones step after step; the system would
// take them back in between and hand them out again page by page, which was a quarter of a step's time.
class SpareBlocks {
 public:
  static constexpr std::size_t least_bytes = std::size_t{8} << 10;
  static constexpr std::size_t most_bytes = std::size_t{128} << 20;  // of all together

  // A spare block of at least `bytes` and at most twice that, or null; `bytes` becomes its size.
  void* take(std::size_t& bytes) {
    const std::lock_guard lock(mutex_);
    Block* best = nullptr;
    for (Block& block : blocks_) {
      const bool fits = block.data != nullptr && block.bytes >= bytes && block.bytes <= 2 * bytes;
      if (fits && (best == nullptr || block.bytes < best->bytes)) best = &block;
    }
    if (best == nullptr) return nullptr;
    bytes = best->bytes;
    total_ -= bytes;
    return std::exchange(best->data, nullptr);
  }

  // False if there is no room for the block.
  bool put(void* data, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (total_ + bytes > most_bytes) return false;
    const auto empty = std::find_if(blocks_.begin(), blocks_.end(), [](const Block& b) { return b.data == nullptr; });
    if (empty == blocks_.end()) return false;
    *empty = {data, bytes};
    total_ += bytes;
    return true;
  }

 private:
  struct Block {
    void* data = nullptr;
    std::size_t bytes = 0;
  };

  std::mutex mutex_;
  std::array<Block, 64> blocks_;
  std::size_t total_ = 0;
};

// Never destroyed: arrays in static variables may be freed after everything else.
SpareBlocks& spare_blocks() {
  static SpareBlocks& blocks = *new SpareBlocks;
  return blocks;
}

}  // namespace

AlignedBytes allocate_aligned(std::size_t bytes) {
  if (bytes >= SpareBlocks::least_bytes) {
    if (void* spare = spare_blocks().take(bytes)) return {spare, bytes};
  }
  return {allocate(bytes), bytes};
}

void free_aligned(const AlignedBytes& block) noexcept {
  if (block.size >= SpareBlocks::least_bytes && spare_blocks().put(block.data, block.size)) return;
  release(block.data, block.size);
}

}  // namespace strata::recurrent::internal
