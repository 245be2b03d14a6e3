// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/simd.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

#include "strata/tensor/cpu.h"
#include "strata/tensor/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/tensor/internal/simd.cc"
#include "strata/tensor/internal/simd-inl.h"

#if HWY_ONCE
namespace strata {
namespace internal {
namespace {

// Highway's tables hold the fallback targets last.
constexpr std::size_t table_index(std::int64_t target) {
  if ((target & (HWY_SCALAR | HWY_EMU128)) != 0) return HWY_MAX_DYNAMIC_TARGETS + 1;
  return static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(HWY_CHOSEN_TARGET_SHIFT(target))));
}

struct Level {
  std::string_view name;
  std::int64_t targets;
  std::size_t index;
};

constexpr Level level(std::string_view name, std::int64_t targets) { return {name, targets, table_index(targets)}; }

// Best first.
constexpr Level levels[] = {
#if HWY_ARCH_X86
    level("avx512", HWY_AVX3),
    level("avx2", HWY_AVX2),
    level("ssse3", HWY_SSSE3),
#elif HWY_ARCH_ARM
    level("neon", HWY_NEON),
#endif
    level("baseline", HWY_SCALAR | HWY_EMU128),
};

std::atomic<const Level*> chosen_level{nullptr};

bool can_run(const Level& l) { return (l.targets & HWY_TARGETS & (hwy::SupportedTargets() | HWY_STATIC_TARGET)) != 0; }

// The best level at or below `name` that can run, or the lowest of all where the program itself is compiled for more.
const Level& find_level(std::string_view name) {
  const auto named = std::find_if(std::begin(levels), std::end(levels), [&](const Level& l) { return l.name == name; });
  if (named == std::end(levels)) {
    std::string names;
    for (const Level& l : levels) names += (names.empty() ? "" : ", ") + std::string(l.name);
    throw ValueError("[instruction_set] unknown instruction set: \"" + std::string(name) +
                     "\". Set STRATA_ISA to one of " + names + ", or leave it unset.");
  }
  if (const auto found = std::find_if(named, std::end(levels), can_run); found != std::end(levels)) return *found;
  return *std::find_if(std::rbegin(levels), std::rend(levels), can_run);
}

const Level& chosen() {
  if (const Level* known = chosen_level.load(std::memory_order_relaxed)) return *known;
  const char* limit = std::getenv("STRATA_ISA");
  const Level& found = find_level(limit != nullptr && *limit != '\0' ? limit : std::begin(levels)->name);
  chosen_level.store(&found, std::memory_order_relaxed);
  return found;
}

}  // namespace

std::size_t dispatch_index() { return chosen().index; }

std::vector<std::string_view> available_instruction_sets() {
  std::vector<std::string_view> names;
  for (const Level& l : levels) {
    if (can_run(l)) names.push_back(l.name);
  }
  return names;
}

void limit_instruction_set(std::string_view name) { chosen_level.store(&find_level(name), std::memory_order_relaxed); }

}  // namespace internal

std::string_view instruction_set() { return internal::chosen().name; }

}  // namespace strata
#endif
