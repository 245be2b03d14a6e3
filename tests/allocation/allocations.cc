// SPDX-License-Identifier: Apache-2.0
#include "allocation/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace strata::allocation {
namespace {

std::atomic<int> allocations{0};
std::atomic<int> until_failure{-1};  // negative: none fails

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> peak{0};

void count_bytes(std::int64_t bytes) noexcept {
  const std::int64_t now = live.fetch_add(bytes) + bytes;
  std::int64_t most = peak;
  while (now > most && !peak.compare_exchange_weak(most, now)) {
  }
}

// Null where there is no memory.
void* try_allocate(std::size_t size, std::size_t alignment) noexcept {
  ++allocations;
  if (until_failure.load() >= 0 && until_failure.fetch_sub(1) == 0) return nullptr;
  void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory != nullptr) count_bytes(static_cast<std::int64_t>(malloc_usable_size(memory)));
  return memory;
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (void* const memory = try_allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

void release(void* memory) noexcept {
  if (memory != nullptr) count_bytes(-static_cast<std::int64_t>(malloc_usable_size(memory)));
  std::free(memory);
}

}  // namespace

int count() noexcept { return allocations; }
std::int64_t live_bytes() noexcept { return live; }
std::int64_t peak_bytes() noexcept { return peak; }
void begin_peak() noexcept { peak = live.load(); }
void fail_after(int others) noexcept { until_failure = others; }
bool stop_failing() noexcept { return until_failure.exchange(-1) < 0; }

}  // namespace strata::allocation

void* operator new(std::size_t size) { return strata::allocation::allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return strata::allocation::allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return strata::allocation::try_allocate(size, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept { strata::allocation::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { strata::allocation::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { strata::allocation::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { strata::allocation::release(memory); }
