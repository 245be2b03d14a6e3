// SPDX-License-Identifier: Apache-2.0

// Tiles of a product of matrices, for use inside HWY_NAMESPACE code: up to max_rows x panel_width elements of C whose
// sums stay in registers.

#include "strata/tensor/internal/simd-inl.h"

#if defined(STRATA_TENSOR_INTERNAL_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_TENSOR_INTERNAL_GEMM_TILE_INL_H_
#undef STRATA_TENSOR_INTERNAL_GEMM_TILE_INL_H_
#else
#define STRATA_TENSOR_INTERNAL_GEMM_TILE_INL_H_
#endif

#include "hwy/cache_control.h"
#include "strata/tensor/internal/gemm_packing-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::internal::gemm_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// With 32 registers 12 x 2 vectors of sums fit, with 16 registers 6 x 2; both leave room for a row of B and an element
// of A.
constexpr int panel_vectors = 2;
#if HWY_TARGET == HWY_AVX3 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
constexpr int max_rows = 12;
#else
constexpr int max_rows = 6;
#endif

template <typename T>
constexpr Index panel_width = panel_vectors* lanes<T>;

// One operand of a tile: element (i, p) of A at data[i * row + p * step], row p of B at data[p * step].
template <typename T>
struct TileA {
  const T* data;
  Index row;
  Index step;
};

template <typename T>
struct TileB {
  const T* data;
  Index step;
};

// C[rows, vectors * lanes] (+)= A B over k.
template <int rows, int vectors, typename T>
HWY_NOINLINE void multiply_tile(Index k, TileA<T> a, TileB<T> b, T* HWY_RESTRICT c, Index ldc, bool accumulate) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  V sum[rows][vectors];
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i) {
    HWY_UNROLL(16)
    for (int j = 0; j < vectors; ++j) sum[i][j] = hn::Zero(d);
  }
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i) hwy::Prefetch(c + i * ldc);
  const T* HWY_RESTRICT pa = a.data;
  const T* HWY_RESTRICT pb = b.data;
  for (Index p = 0; p < k; ++p) {
    V row[vectors];
    HWY_UNROLL(16)
    for (int j = 0; j < vectors; ++j) row[j] = hn::LoadU(d, pb + j * lanes<T>);
    HWY_UNROLL(16)
    for (int i = 0; i < rows; ++i) {
      const V factor = hn::Set(d, pa[i * a.row]);
      HWY_UNROLL(16)
      for (int j = 0; j < vectors; ++j) sum[i][j] = hn::MulAdd(factor, row[j], sum[i][j]);
    }
    pa += a.step;
    pb += b.step;
  }
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i) {
    HWY_UNROLL(16)
    for (int j = 0; j < vectors; ++j) {
      T* at = c + i * ldc + j * lanes<T>;
      hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, at), sum[i][j]) : sum[i][j], d, at);
    }
  }
}

template <typename T>
using TileFunction = void (*)(Index, TileA<T>, TileB<T>, T*, Index, bool);

// multiply_tile for a number of rows and vectors known at run time.
template <typename T>
TileFunction<T> tile_function(Index rows, Index vectors) {
#define STRATA_TILE_ROW(r) \
  { multiply_tile<r, 1, T>, multiply_tile<r, 2, T> }
  static constexpr TileFunction<T> functions[max_rows][panel_vectors] = {
    STRATA_TILE_ROW(1),
    STRATA_TILE_ROW(2),
    STRATA_TILE_ROW(3),
    STRATA_TILE_ROW(4),
    STRATA_TILE_ROW(5),
    STRATA_TILE_ROW(6),
#if HWY_TARGET == HWY_AVX3 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
    STRATA_TILE_ROW(7),
    STRATA_TILE_ROW(8),
    STRATA_TILE_ROW(9),
    STRATA_TILE_ROW(10),
    STRATA_TILE_ROW(11),
    STRATA_TILE_ROW(12),
#endif
  };
#undef STRATA_TILE_ROW
  return functions[rows - 1][vectors - 1];
}

// y[0, count) = or += x.
template <typename T>
HWY_INLINE void store_row(const T* x, Index count, T* y, bool accumulate) {
  const hn::ScalableTag<T> d;
  const auto sum_at = [&](Index j) HWY_ATTR {
    const auto sum = hn::LoadU(d, x + j);
    return accumulate ? hn::Add(hn::LoadU(d, y + j), sum) : sum;
  };
  if (count >= lanes<T>) {
    // The last vector overlaps the first; both are read before either is written.
    const auto first = sum_at(0), last = sum_at(count - lanes<T>);
    hn::StoreU(first, d, y);
    hn::StoreU(last, d, y + count - lanes<T>);
  } else {
    for (Index j = 0; j < count; ++j) y[j] = (accumulate ? y[j] : T{0}) + x[j];
  }
}

// One tile of C, of which only `columns` columns exist.
template <typename T>
void multiply_partial_tile(TileFunction<T> multiply, Index rows, Index columns, Index k, TileA<T> a, TileB<T> b, T* c,
                           Index ldc, bool accumulate) {
  static_assert(panel_vectors == 2);
  alignas(64) T sums[max_rows * panel_width<T>];
  multiply(k, a, b, sums, panel_width<T>, false);
  for (Index i = 0; i < rows; ++i) store_row(sums + i * panel_width<T>, columns, c + i * ldc, accumulate);
}

}  // namespace strata::internal::gemm_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
