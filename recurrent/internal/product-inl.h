// SPDX-License-Identifier: Apache-2.0

// The one product under all others: a tile of rows times a panel, in registers.

#include "strata/tensor/internal/simd-inl.h"

#if defined(STRATA_RECURRENT_INTERNAL_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_RECURRENT_INTERNAL_PRODUCT_INL_H_
#undef STRATA_RECURRENT_INTERNAL_PRODUCT_INL_H_
#else
#define STRATA_RECURRENT_INTERNAL_PRODUCT_INL_H_
#endif

#include <algorithm>
#include <type_traits>

#include "strata/tensor/shape.h"

HWY_BEFORE_NAMESPACE();
namespace strata::recurrent::internal::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;
template <class T>
constexpr Index lanes = static_cast<Index>(hn::MaxLanes(Tag<T>()));

// Rows of a tile of `width` vectors, so that sums, weights and a broadcast number fit the registers; and the sums of
// one row that keep the adders busy, each being a chain of dependent additions.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int tile_rows(int width) { return width >= 4 ? 6 : 8; }
constexpr int chains = 16;
#elif HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
constexpr int tile_rows(int) { return 1; }
constexpr int chains = 4;
#else
constexpr int tile_rows(int width) { return width >= 4 ? 3 : width == 3 ? 4 : 6; }
constexpr int chains = 8;
#endif

// What all rows of a tile are multiplied with: for k < count, the vectors from panel + k * panel_step on. Then the same
// again for the next of `segments`: its panel follows, its factors are segment_stride further on.
template <class T>
struct TileProduct {
  const T* panel;  // aligned
  Index panel_step;
  Index count;
  Index factor_step = 1;
  Index segments = 1;
  Index segment_stride = 0;
  // Several panels side by side, and their sums:
  Index panel_stride = 0;
  Index sums_stride = 0;
};

// One row: to = from + sum over k of factors[k * factor_step] * panel row k, in the order of k. `from` and `to` are
// aligned and may be the same; null `from` of all rows of a tile: zero.
template <class T>
struct TileRow {
  const T* factors;
  const T* from;
  T* to;
};

// `num_rows` rows times `num_panels` panels, each `width` vectors wide. All sums stay in registers.
template <int width, int num_rows, int num_panels, class T>
HWY_NOINLINE void multiply_tile(const TileProduct<T>& product, const TileRow<T>* tile) {
  const Tag<T> d;
  Vector<T> sums[num_panels][num_rows][width];
  const T* factors[num_rows];
  HWY_UNROLL(8)
  for (int r = 0; r < num_rows; ++r) {
    factors[r] = tile[r].factors;
    HWY_UNROLL(8)
    for (int p = 0; p < num_panels; ++p) {
      const T* const from = tile[r].from + p * product.sums_stride;
      HWY_UNROLL(4)
      for (int w = 0; w < width; ++w) {
        sums[p][r][w] = tile[0].from == nullptr ? hn::Zero(d) : hn::Load(d, from + w * lanes<T>);
      }
    }
  }
  const T* panel = product.panel;
  const Index panel_step = product.panel_step;
  const Index panel_stride = product.panel_stride;
  const Index factor_step = product.factor_step;
  for (Index segment = 0; segment < product.segments; ++segment) {
    const Index end = product.count * factor_step;
    for (Index k = 0; k < end; k += factor_step) {
      HWY_UNROLL(8)
      for (int p = 0; p < num_panels; ++p) {
        Vector<T> weights[width];
        HWY_UNROLL(4)
        for (int w = 0; w < width; ++w) weights[w] = hn::Load(d, panel + p * panel_stride + w * lanes<T>);
        HWY_UNROLL(8)
        for (int r = 0; r < num_rows; ++r) {
          const Vector<T> factor = hn::Set(d, factors[r][k]);
          HWY_UNROLL(4)
          for (int w = 0; w < width; ++w) sums[p][r][w] = hn::MulAdd(factor, weights[w], sums[p][r][w]);
        }
      }
      panel += panel_step;
    }
    HWY_UNROLL(8)
    for (int r = 0; r < num_rows; ++r) factors[r] += product.segment_stride;
  }
  HWY_UNROLL(8)
  for (int r = 0; r < num_rows; ++r) {
    HWY_UNROLL(8)
    for (int p = 0; p < num_panels; ++p) {
      T* const to = tile[r].to + p * product.sums_stride;
      HWY_UNROLL(4)
      for (int w = 0; w < width; ++w) hn::Store(sums[p][r][w], d, to + w * lanes<T>);
    }
  }
}

// Calls f(std::integral_constant<int, count>()) for a count in [1, max].
template <int max, class F>
HWY_INLINE void with_constant(Index count, const F& f) {
  if constexpr (max > 1) {
    if (count < max) return with_constant<max - 1>(count, f);
  }
  f(std::integral_constant<int, max>());
}

// `count` rows, row_at(r) being TileRow r, times one panel; cut evenly into tiles.
template <int width, class T, class RowAt>
HWY_INLINE void multiply_rows(const TileProduct<T>& product, Index count, const RowAt& row_at) {
  constexpr int max_rows = tile_rows(width);
  Index first = 0;
  for (Index tiles = (count + max_rows - 1) / max_rows; tiles > 0; --tiles) {
    const Index rows = (count - first + tiles - 1) / tiles;
    TileRow<T> tile[max_rows];
    for (Index r = 0; r < rows; ++r) tile[r] = row_at(first + r);
    with_constant<max_rows>(rows,
                            [&](auto num_rows) HWY_ATTR { multiply_tile<width, num_rows.value, 1>(product, tile); });
    first += rows;
  }
}

// Rows of a panel `width` vectors wide that stay in the first cache while tile after tile of rows is multiplied with
// them.
template <class T>
constexpr Index panel_piece(Index width) {
  return (Index{16} << 10) / (width * lanes<T> * static_cast<Index>(sizeof(T)));
}

// Cuts [0, size) into pieces of at most `piece` and calls f(begin, end); also once if the size is 0.
template <class F>
HWY_INLINE void for_each_piece(Index size, Index piece, const F& f) {
  Index begin = 0;
  do {
    const Index end = std::min(begin + piece, size);
    f(begin, end);
    begin = end;
  } while (begin < size);
}

// Loads and stores of the first `count` lanes, which may be all; memory behind them is not touched.
template <class T>
HWY_INLINE Vector<T> load_some(const T* from, Index count) {
  const Tag<T> d;
  if (count >= lanes<T>) return hn::LoadU(d, from);
  HWY_ALIGN T buffer[lanes<T>] = {};
  for (Index i = 0; i < count; ++i) buffer[i] = from[i];
  return hn::Load(d, buffer);
}

template <class T>
HWY_INLINE void store_some(Vector<T> v, T* to, Index count) {
  const Tag<T> d;
  if (count >= lanes<T>) return hn::StoreU(v, d, to);
  HWY_ALIGN T buffer[lanes<T>];
  hn::Store(v, d, buffer);
  for (Index i = 0; i < count; ++i) to[i] = buffer[i];
}

}  // namespace strata::recurrent::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
