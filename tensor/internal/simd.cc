// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/simd.h"

#include <atomic>
#include <cstdlib>
#include <string>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/tensor/internal/simd.cc"
#include "strata/tensor/internal/simd-inl.h"

#if HWY_ONCE
#include "strata/tensor/cpu.h"
#include "strata/tensor/error.h"

namespace strata {
namespace internal {
namespace {

struct Level {
  std::string_view name;
  std::int64_t target;
};

constexpr Level levels[] = {
#if HWY_ARCH_X86
    {"avx512", HWY_AVX3}, {"avx2", HWY_AVX2}, {"ssse3", HWY_SSSE3},
#elif HWY_ARCH_ARM
    {"neon", HWY_NEON},
#endif
    {"baseline", HWY_SCALAR | HWY_EMU128},
};

std::int64_t runnable_targets() { return hwy::SupportedTargets() & HWY_TARGETS; }

// The lowest level can always run, whatever its target.
bool can_run(const Level& level) {
  return (level.target & runnable_targets()) != 0 || (&level == std::end(levels) - 1 && HWY_STATIC_TARGET >= HWY_EMU128);
}

const Level& best_level_at_or_below(std::string_view name) {
  std::string names;
  bool reached = name.empty();
  for (const Level& level : levels) {
    reached = reached || level.name == name;
    if (reached && can_run(level)) return level;
    names += (names.empty() ? "" : ", ") + std::string(level.name);
  }
  ...
}

}  // namespace
}  // namespace internal
}  // namespace strata
#endif
