// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/reduce_rows.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace strata::internal {
namespace {

// What elements of type T are accumulated in.
template <Fold fold, class T>
struct AccumulatorOf {
  using type = T;
};
template <Fold fold, class T>
requires(fold == Fold::sum || fold == Fold::product) struct AccumulatorOf<fold, T> {
  using integer = std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>, std::uint64_t, std::int64_t>;
  using type = std::conditional_t<std::is_floating_point_v<T>, double, integer>;
};

// NaN, once met, stays.
template <Fold fold, class A>
A combine(A a, A b) {
  if constexpr (fold == Fold::maximum) {
    return b > a || b != b ? b : a;
  } else if constexpr (fold == Fold::minimum) {
    return b < a || b != b ? b : a;
  } else if constexpr (std::is_floating_point_v<A>) {
    return fold == Fold::sum ? a + b : a * b;
  } else {
    // Wraps around on overflow.
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    return static_cast<A>(fold == Fold::sum ? x + y : x * y);
  }
}

template <Fold fold, class T, class A>
void fold_row(const void* row, Index n, void* accumulators) {
  const auto* x = static_cast<const T*>(row);
  auto& result = *static_cast<A*>(accumulators);
  A folded = result;
  for (Index i = 0; i < n; ++i) folded = combine<fold>(folded, static_cast<A>(x[i]));
  result = folded;
}

template <Fold fold, class T, class A>
void merge_row(const void* row, Index n, void* accumulators) {
  const auto* x = static_cast<const T*>(row);
  auto* folded = static_cast<A*>(accumulators);
  for (Index i = 0; i < n; ++i) folded[i] = combine<fold>(folded[i], static_cast<A>(x[i]));
}

template <Fold fold>
FoldRows rows_for_each_type(DType dtype) {
  return dispatch(dtype, []<class T>(T) -> FoldRows {
    if constexpr (std::is_arithmetic_v<T>) {
      using A = typename AccumulatorOf<fold, T>::type;
      return {dtype_of<A>, fold_row<fold, T, A>, merge_row<fold, T, A>};
    }
    return {};
  });
}

FoldRows generic_rows(Fold fold, DType dtype) {
  switch (fold) {
    case Fold::sum:
      return rows_for_each_type<Fold::sum>(dtype);
    case Fold::product:
      return rows_for_each_type<Fold::product>(dtype);
    case Fold::maximum:
      return rows_for_each_type<Fold::maximum>(dtype);
    case Fold::minimum:
      break;
  }
  return rows_for_each_type<Fold::minimum>(dtype);
}

template <class T>
T identity(Fold fold) {
  using Limits = std::numeric_limits<T>;
  switch (fold) {
    case Fold::sum:
      return T{0};
    case Fold::product:
      return T{1};
    case Fold::maximum:
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case Fold::minimum:
      break;
  }
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

}  // namespace

FoldRows fold_rows(Fold fold, DType dtype) {
  const FoldRows vectorised = simd_fold_rows(fold, dtype);
  return vectorised.fold != nullptr ? vectorised : generic_rows(fold, dtype);
}

Tensor empty_accumulators(Fold fold, const Shape& shape, DType accumulator) {
  Tensor result = Tensor::uninitialized(shape, accumulator);
  dispatch(accumulator, [&]<class T>(T) {
    if constexpr (std::is_arithmetic_v<T>) {
      const std::span<T> elements = result.mutable_data<T>();
      std::fill(elements.begin(), elements.end(), identity<T>(fold));
    }
  });
  return result;
}

}  // namespace strata::internal
