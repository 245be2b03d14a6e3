// SPDX-License-Identifier: Apache-2.0

// Compiles the including .cc once per instruction set. No include guard: every pass needs it again. Use:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "strata/<folder>/internal/<this file>.cc"
//   #include "strata/tensor/internal/simd-inl.h"
//
//   HWY_BEFORE_NAMESPACE();
//   namespace strata::internal::HWY_NAMESPACE {
//   namespace hn = hwy::HWY_NAMESPACE;
//   void add_impl(...) { ... }
//   }
//   HWY_AFTER_NAMESPACE();
//
//   #if HWY_ONCE
//   namespace strata::internal {
//   HWY_EXPORT(add_impl);
//   void add(...) { STRATA_DISPATCH(add_impl)(...); }
//   }
//   #endif

// Four x86 levels (static baseline, SSSE3, AVX2 with FMA, AVX-512) and NEON. SSE4 would need AES as well and gains
// nothing over SSSE3 here; the lowest level needs no instructions beyond those the whole program is compiled for.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "strata/tensor/internal/simd.h"

// Calls the variant of an exported function for the chosen instruction set. Unlike HWY_DYNAMIC_DISPATCH it leaves
// Highway's own choice alone, which belongs to the whole program.
#ifndef STRATA_DISPATCH
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
#define STRATA_DISPATCH(function) HWY_STATIC_DISPATCH(function)
#else
#define STRATA_DISPATCH(function) (*(HWY_DISPATCH_TABLE(function)[::strata::internal::dispatch_index()]))
#endif
#endif
