// SPDX-License-Identifier: Apache-2.0
#include "allocation/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace strata::allocation {
namespace {

std::atomic<int> allocations{0};
std::atomic<int> until_failure{-1};  // negative: none fails

void* allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  if (until_failure.load() >= 0 && until_failure.fetch_sub(1) == 0) throw std::bad_alloc();
  if (void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

int count() noexcept { return allocations; }
void fail_after(int others) noexcept { until_failure = others; }
bool stop_failing() noexcept { return until_failure.exchange(-1) < 0; }

}  // namespace strata::allocation

void* operator new(std::size_t size) { return strata::allocation::allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return strata::allocation::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
