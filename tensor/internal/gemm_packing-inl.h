// SPDX-License-Identifier: Apache-2.0

// Operands of a product copied into the order in which tiles read them, for use inside HWY_NAMESPACE code.

#include "strata/tensor/internal/simd-inl.h"

#if defined(STRATA_TENSOR_INTERNAL_GEMM_PACKING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_TENSOR_INTERNAL_GEMM_PACKING_INL_H_
#undef STRATA_TENSOR_INTERNAL_GEMM_PACKING_INL_H_
#else
#define STRATA_TENSOR_INTERNAL_GEMM_PACKING_INL_H_
#endif

#include <algorithm>

#include "strata/tensor/internal/gemm_problem.h"

HWY_BEFORE_NAMESPACE();
namespace strata::internal::gemm_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
constexpr Index lanes = static_cast<Index>(hn::MaxLanes(hn::ScalableTag<T>()));

// Vectors of 16 bytes, or of one lane on targets that have no more.
template <typename T>
using SmallTag = hn::CappedTag<T, 16 / sizeof(T)>;

template <typename T>
constexpr Index small_lanes = static_cast<Index>(hn::MaxLanes(SmallTag<T>()));

// A block of 4 x 4 floats or 2 x 2 doubles: to[p * to_step + r] = from[r * ld + p].
template <typename T, class D>
HWY_INLINE void transpose_block(D d, const T* HWY_RESTRICT from, [[maybe_unused]] Index ld, T* HWY_RESTRICT to,
                                [[maybe_unused]] Index to_step) {
#if HWY_TARGET == HWY_SCALAR
  hn::StoreU(hn::LoadU(d, from), d, to);
#else
  if constexpr (hn::MaxLanes(D()) == 4) {
    const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + ld);
    const auto r2 = hn::LoadU(d, from + 2 * ld), r3 = hn::LoadU(d, from + 3 * ld);
    const auto even_low = hn::InterleaveLower(d, r0, r2), even_high = hn::InterleaveUpper(d, r0, r2);
    const auto odd_low = hn::InterleaveLower(d, r1, r3), odd_high = hn::InterleaveUpper(d, r1, r3);
    hn::StoreU(hn::InterleaveLower(d, even_low, odd_low), d, to);
    hn::StoreU(hn::InterleaveUpper(d, even_low, odd_low), d, to + to_step);
    hn::StoreU(hn::InterleaveLower(d, even_high, odd_high), d, to + 2 * to_step);
    hn::StoreU(hn::InterleaveUpper(d, even_high, odd_high), d, to + 3 * to_step);
  } else {
    static_assert(hn::MaxLanes(D()) == 2);
    const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + ld);
    hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
    hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + to_step);
  }
#endif
}

// to[p * to_step + r] = from[r * ld + p] for r < width and p < k. Blocks at the end of a row overlap their neighbours;
// a cache line of `from` is used up before the next row is touched, as rows a power of two apart fall on the same few
// lines.
template <typename T>
void pack_transposed(Index width, Index k, const T* HWY_RESTRICT from, Index ld, T* HWY_RESTRICT to, Index to_step) {
  const SmallTag<T> d;
  constexpr Index block = small_lanes<T>, line = 64 / static_cast<Index>(sizeof(T));
  const Index block_columns = width < block ? 0 : k / block * block;
  for (Index begin = 0; begin < block_columns; begin += line) {
    const Index end = std::min(begin + line, block_columns);
    for (Index r = 0; r < width; r += block) {
      const Index row = std::min(r, width - block);
      for (Index p = begin; p < end; p += block) {
        transpose_block(d, from + row * ld + p, ld, to + p * to_step + row, to_step);
      }
    }
  }
  for (Index p = block_columns; p < k; ++p) {
    for (Index r = 0; r < width; ++r) to[p * to_step + r] = from[r * ld + p];
  }
}

// to[p * to_step + r] = from[p * ld + r] for r < width and p < k. Vectors at the end of a row overlap their neighbours.
template <typename T, class D>
void pack_rows_by(D d, Index width, Index k, const T* HWY_RESTRICT from, Index ld, T* HWY_RESTRICT to, Index to_step) {
  constexpr Index step = static_cast<Index>(hn::MaxLanes(D()));
  for (Index p = 0; p < k; ++p) {
    for (Index r = 0; r < width; r += step) {
      const Index at = std::min(r, width - step);
      hn::StoreU(hn::LoadU(d, from + p * ld + at), d, to + p * to_step + at);
    }
  }
}

template <typename T>
void pack_rows(Index width, Index k, const T* HWY_RESTRICT from, Index ld, T* HWY_RESTRICT to, Index to_step) {
  if (width >= lanes<T>) {
    pack_rows_by(hn::ScalableTag<T>(), width, k, from, ld, to, to_step);
  } else if (width >= small_lanes<T>) {
    pack_rows_by(SmallTag<T>(), width, k, from, ld, to, to_step);
  } else {
    for (Index p = 0; p < k; ++p) std::copy_n(from + p * ld, width, to + p * to_step);
  }
}

// The first `rows` rows from `a`, all of the k columns, packed to one row of `rows` elements a column.
template <typename T>
void pack_a(Index rows, Index k, const MatrixOperand<T>& a, T* to) {
  if (a.column == 1) {
    pack_transposed(rows, k, a.data, a.row, to, rows);
  } else {
    pack_rows(rows, k, a.data, a.column, to, rows);
  }
}

// The first `columns` columns from `b`, packed to rows of `width` elements, filled up with zeros.
template <typename T>
void pack_b(Index columns, Index width, Index k, const MatrixOperand<T>& b, T* to) {
  if (b.column == 1) {
    pack_rows(columns, k, b.data, b.row, to, width);
  } else {
    pack_transposed(columns, k, b.data, b.column, to, width);
  }
  for (Index p = 0; columns < width && p < k; ++p) std::fill(to + p * width + columns, to + (p + 1) * width, T{0});
}

}  // namespace strata::internal::gemm_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
