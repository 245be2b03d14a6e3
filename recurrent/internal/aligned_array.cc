// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/aligned_array.h"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace strata::recurrent::internal {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t huge_from = std::size_t{1} << 20;
constexpr std::align_val_t vector_alignment{64};

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  if (bytes < huge_from) return ::operator new(bytes, vector_alignment);
  void* data = ::operator new (bytes, std::align_val_t{huge_page});
#ifdef __linux__
  // A refusal costs speed only.
  static_cast<void>(madvise(data, bytes, MADV_HUGEPAGE));
#endif
  return data;
}

void free_aligned(void* bytes, std::size_t size) noexcept {
  ::operator delete (bytes, size < huge_from ? vector_alignment : std::align_val_t{huge_page});
}

}  // namespace strata::recurrent::internal
