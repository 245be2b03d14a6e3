// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "strata/tensor/internal/reduce_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/tensor/internal/reduce_simd.cc"
#include "strata/tensor/internal/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::internal::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Plus {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};

// NaN, once met, stays: a comparison with NaN is false.
struct Larger {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Gt(b, a), hn::IsNaN(b)), b, a);
  }
};

struct Smaller {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Lt(b, a), hn::IsNaN(b)), b, a);
  }
};

// Elements of type T as a vector of accumulators of type A.
template <class A, class T, class D>
HWY_INLINE hn::Vec<D> LoadAs(D d, const T* x) {
  if constexpr (sizeof(T) == sizeof(A)) {
    return hn::LoadU(d, x);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), x));
  }
}

// Four accumulators hide the latency of an operation. `single` folds the tail, and in the end the lanes.
template <class T, class A, class Op>
void FoldRow(const void* row, Index n, void* accumulators) {
  const hn::ScalableTag<A> d;
  const hn::CappedTag<A, 1> single;
  const Op op;
  const auto* x = static_cast<const T*>(row);
  auto* result = static_cast<A*>(accumulators);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  auto folded = hn::LoadU(single, result);
  Index i = 0;
  if (n >= 4 * lanes) {
    auto v0 = LoadAs<A>(d, x);
    auto v1 = LoadAs<A>(d, x + lanes);
    auto v2 = LoadAs<A>(d, x + 2 * lanes);
    auto v3 = LoadAs<A>(d, x + 3 * lanes);
    for (i = 4 * lanes; i + 4 * lanes <= n; i += 4 * lanes) {
      v0 = op(v0, LoadAs<A>(d, x + i));
      v1 = op(v1, LoadAs<A>(d, x + i + lanes));
      v2 = op(v2, LoadAs<A>(d, x + i + 2 * lanes));
      v3 = op(v3, LoadAs<A>(d, x + i + 3 * lanes));
    }
    HWY_ALIGN A each[HWY_MAX_BYTES / sizeof(A)];
    hn::Store(op(op(v0, v1), op(v2, v3)), d, each);
    for (Index lane = 0; lane < lanes; ++lane) folded = op(folded, hn::LoadU(single, each + lane));
  }
  for (; i < n; ++i) folded = op(folded, LoadAs<A>(single, x + i));
  hn::StoreU(folded, single, result);
}

template <class T, class A, class Op>
void MergeRow(const void* row, Index n, void* accumulators) {
  const hn::ScalableTag<A> d;
  const hn::CappedTag<A, 1> single;
  const Op op;
  const auto* x = static_cast<const T*>(row);
  auto* folded = static_cast<A*>(accumulators);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(op(hn::LoadU(d, folded + i), LoadAs<A>(d, x + i)), d, folded + i);
  for (; i < n; ++i) hn::StoreU(op(hn::LoadU(single, folded + i), LoadAs<A>(single, x + i)), single, folded + i);
}

template <class T, class A, class Op>
constexpr FoldRows rows{dtype_of<A>, FoldRow<T, A, Op>, MergeRow<T, A, Op>};

FoldRows FindRows(Fold fold, bool is_double) {
  switch (fold) {
    case Fold::sum:
      return is_double ? rows<double, double, Plus> : rows<float, double, Plus>;
    case Fold::maximum:
      return is_double ? rows<double, double, Larger> : rows<float, float, Larger>;
    case Fold::minimum:
      return is_double ? rows<double, double, Smaller> : rows<float, float, Smaller>;
    case Fold::product:
      break;
  }
  return {};
}

}  // namespace strata::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::internal {

HWY_EXPORT(FindRows);

FoldRows simd_fold_rows(Fold fold, DType dtype) {
  if (dtype != DType::float32 && dtype != DType::float64) return {};
  return STRATA_DISPATCH(FindRows)(fold, dtype == DType::float64);
}

}  // namespace strata::internal
#endif
