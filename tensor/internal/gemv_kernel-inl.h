// SPDX-License-Identifier: Apache-2.0

// Products of a matrix and a vector on one thread, for use inside HWY_NAMESPACE code. The matrix is read once, in the
// order in which it lies in memory.

#include "strata/tensor/internal/simd-inl.h"

#if defined(STRATA_TENSOR_INTERNAL_GEMV_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_TENSOR_INTERNAL_GEMV_KERNEL_INL_H_
#undef STRATA_TENSOR_INTERNAL_GEMV_KERNEL_INL_H_
#else
#define STRATA_TENSOR_INTERNAL_GEMV_KERNEL_INL_H_
#endif

#include <algorithm>

#include "strata/tensor/internal/gemm_problem.h"

HWY_BEFORE_NAMESPACE();
namespace strata::internal::gemm_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// y[i] (+)= sum over p of rows[i * ld + p] x[p], for `count` rows at once. Two chains a row; how a row is summed does
// not depend on `count`.
template <int count, typename T>
HWY_INLINE void dot_rows(Index size, const T* HWY_RESTRICT rows, Index ld, const T* HWY_RESTRICT x, T* HWY_RESTRICT y,
                         bool accumulate) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr Index lanes = static_cast<Index>(hn::MaxLanes(hn::ScalableTag<T>()));
  V even[count], odd[count];
  HWY_UNROLL(4)
  for (int i = 0; i < count; ++i) even[i] = odd[i] = hn::Zero(d);
  Index p = 0;
  for (; p + 2 * lanes <= size; p += 2 * lanes) {
    const V x0 = hn::LoadU(d, x + p), x1 = hn::LoadU(d, x + p + lanes);
    HWY_UNROLL(4)
    for (int i = 0; i < count; ++i) {
      even[i] = hn::MulAdd(x0, hn::LoadU(d, rows + i * ld + p), even[i]);
      odd[i] = hn::MulAdd(x1, hn::LoadU(d, rows + i * ld + p + lanes), odd[i]);
    }
  }
  const Index rest = p;
  HWY_UNROLL(4)
  for (int i = 0; i < count; ++i) {
    T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even[i], odd[i])));
    for (Index q = rest; q < size; ++q) sum += x[q] * rows[i * ld + q];
    y[i] = accumulate ? y[i] + sum : sum;
  }
}

template <typename T>
void multiply_rows_by_vector(const GemvProblem<T>& g) {
  Index i = 0;
  for (; i + 4 <= g.rows; i += 4) {
    dot_rows<4>(g.columns, g.matrix.data + i * g.matrix.row, g.matrix.row, g.x, g.y + i, g.accumulate);
  }
  for (; i < g.rows; ++i) {
    dot_rows<1>(g.columns, g.matrix.data + i * g.matrix.row, g.matrix.row, g.x, g.y + i, g.accumulate);
  }
}

// y (+)= the sum of `count` columns, each times its element of x.
template <int count, typename T>
HWY_INLINE void add_columns(Index rows, const T* HWY_RESTRICT columns, Index ld, const T* HWY_RESTRICT x,
                            T* HWY_RESTRICT y, bool accumulate) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr Index lanes = static_cast<Index>(hn::MaxLanes(hn::ScalableTag<T>()));
  V factor[count];
  HWY_UNROLL(8)
  for (int q = 0; q < count; ++q) factor[q] = hn::Set(d, x[q]);
  Index i = 0;
  for (; i + lanes <= rows; i += lanes) {
    V sum = accumulate ? hn::LoadU(d, y + i) : hn::Zero(d);
    HWY_UNROLL(8)
    for (int q = 0; q < count; ++q) sum = hn::MulAdd(factor[q], hn::LoadU(d, columns + q * ld + i), sum);
    hn::StoreU(sum, d, y + i);
  }
  for (; i < rows; ++i) {
    T sum = accumulate ? y[i] : T{0};
    for (int q = 0; q < count; ++q) sum += x[q] * columns[q * ld + i];
    y[i] = sum;
  }
}

template <typename T>
void multiply_columns_by_vector(const GemvProblem<T>& g) {
  constexpr int count = 8;
  const Index ld = g.matrix.column;
  Index p = 0;
  for (; p + count <= g.columns; p += count) {
    add_columns<count>(g.rows, g.matrix.data + p * ld, ld, g.x + p, g.y, g.accumulate || p > 0);
  }
  for (; p < g.columns; ++p) {
    add_columns<1>(g.rows, g.matrix.data + p * ld, ld, g.x + p, g.y, g.accumulate || p > 0);
  }
}

template <typename T>
void multiply_by_vector(const GemvProblem<T>& g) {
  if (g.matrix.column == 1) {
    multiply_rows_by_vector(g);
  } else {
    multiply_columns_by_vector(g);
  }
}

}  // namespace strata::internal::gemm_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
