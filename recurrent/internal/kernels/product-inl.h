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

// Sums in registers: rows of vectors, for several panels side by side.
template <class T, int num_panels, int num_rows, int num_slots>
using Sums = Vector<T>[num_panels][num_rows][num_slots];

// Sets the sums to vectors from from(panel, row) on, or stores them from to(panel, row) on.
template <class T, int num_panels, int num_rows, int num_slots, class From>
HWY_INLINE void load_sums(Sums<T, num_panels, num_rows, num_slots>& sums, const From& from) {
  HWY_UNROLL(8)
  for (int p = 0; p < num_panels; ++p) {
    HWY_UNROLL(8)
    for (int r = 0; r < num_rows; ++r) {
      const T* const start = from(p, r);
      HWY_UNROLL(4)
      for (int s = 0; s < num_slots; ++s) sums[p][r][s] = hn::Load(Tag<T>(), start + s * lanes<T>);
    }
  }
}

template <class T, int num_panels, int num_rows, int num_slots>
HWY_INLINE void clear_sums(Sums<T, num_panels, num_rows, num_slots>& sums) {
  HWY_UNROLL(8)
  for (int p = 0; p < num_panels; ++p) {
    HWY_UNROLL(8)
    for (int r = 0; r < num_rows; ++r) {
      HWY_UNROLL(4)
      for (int s = 0; s < num_slots; ++s) sums[p][r][s] = hn::Zero(Tag<T>());
    }
  }
}

template <class T, int num_panels, int num_rows, int num_slots, class To>
HWY_INLINE void store_sums(const Sums<T, num_panels, num_rows, num_slots>& sums, const To& to) {
  HWY_UNROLL(8)
  for (int p = 0; p < num_panels; ++p) {
    HWY_UNROLL(8)
    for (int r = 0; r < num_rows; ++r) {
      T* const start = to(p, r);
      HWY_UNROLL(4)
      for (int s = 0; s < num_slots; ++s) hn::Store(sums[p][r][s], Tag<T>(), start + s * lanes<T>);
    }
  }
}

// sums[p][r][first + w] += sum over k < count of rows[r][k * row_step] * vector w of (panels[p] + k * panel_step), in
// the order of k. Panels are aligned.
template <int first, int width, class T, int num_panels, int num_rows, int num_slots>
HWY_INLINE void accumulate(const T* const (&rows)[num_rows], Index row_step, const T* panel, Index panel_stride,
                           Index panel_step, Index count, Sums<T, num_panels, num_rows, num_slots>& sums) {
  const Tag<T> d;
  for (Index k = 0; k < count; ++k) {
    HWY_UNROLL(8)
    for (int p = 0; p < num_panels; ++p) {
      Vector<T> weights[width];
      HWY_UNROLL(8)
      for (int w = 0; w < width; ++w) weights[w] = hn::Load(d, panel + p * panel_stride + w * lanes<T>);
      HWY_UNROLL(8)
      for (int r = 0; r < num_rows; ++r) {
        const Vector<T> factor = hn::Set(d, rows[r][k * row_step]);
        HWY_UNROLL(8)
        for (int w = 0; w < width; ++w) {
          sums[p][r][first + w] = hn::MulAdd(factor, weights[w], sums[p][r][first + w]);
        }
      }
    }
    panel += panel_step;
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

// Cuts [begin, end) evenly into tiles of at most `max` rows and calls f(std::integral_constant<int, rows>(), first
// row).
template <int max, class F>
HWY_INLINE void for_each_tile(Index begin, Index end, const F& f) {
  for (Index tiles = (end - begin + max - 1) / max; tiles > 0; --tiles) {
    const Index count = (end - begin + tiles - 1) / tiles;
    with_constant<max>(count, [&](auto rows) HWY_ATTR { f(rows, begin); });
    begin += count;
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
