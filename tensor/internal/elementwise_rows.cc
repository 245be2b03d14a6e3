// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <concepts>
#include <type_traits>

#include "strata/tensor/internal/elementwise.h"

namespace strata::internal {
namespace {

// Integers wrap around, as unsigned arithmetic does, which is not undefined. Narrow ones would be promoted to int and
// could overflow there: hence at least 32 bits.
template <std::integral T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, std::uint32_t>;

template <std::integral T>
T integer_power(T base, T exponent) {
  Wrapping<T> result = 1;
  auto square = static_cast<Wrapping<T>>(base);
  for (auto rest = static_cast<std::make_unsigned_t<T>>(exponent); rest != 0;) {
    if ((rest & 1U) != 0) result *= square;
    square *= square;
    rest = static_cast<std::make_unsigned_t<T>>(rest >> 1U);
  }
  return static_cast<T>(result);
}

template <Binary operation, class T>
T combine(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return operation == Binary::add || operation == Binary::maximum ? a || b : a && b;
  } else if constexpr (operation == Binary::maximum) {
    return b > a || b != b ? b : a;
  } else if constexpr (operation == Binary::minimum) {
    return b < a || b != b ? b : a;
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(operation == Binary::power);
    return std::pow(a, b);
  } else if constexpr (operation == Binary::power) {
    return integer_power(a, b);
  } else {
    const auto x = static_cast<Wrapping<T>>(a);
    const auto y = static_cast<Wrapping<T>>(b);
    if constexpr (operation == Binary::add) return static_cast<T>(x + y);
    if constexpr (operation == Binary::subtract) return static_cast<T>(x - y);
    return static_cast<T>(x * y);
  }
}

template <Comparison operation, class T>
bool compare(T a, T b) {
  if constexpr (operation == Comparison::equal) return a == b;
  if constexpr (operation == Comparison::not_equal) return a != b;
  if constexpr (operation == Comparison::less) return a < b;
  return a <= b;
}

template <class T, class R, R (*function)(T, T)>
void row_of(const void* a, Index step_a, const void* b, Index step_b, void* out, Index n) {
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  auto* result = static_cast<R*>(out);
  for (Index i = 0; i < n; ++i) result[i] = function(x[i * step_a], y[i * step_b]);
}

template <Binary operation>
BinaryRow row_for_each_type(DType dtype) {
  return dispatch(dtype, []<class T>(T) -> BinaryRow {
    constexpr bool of_bool = operation != Binary::subtract && operation != Binary::power;
    if constexpr (std::is_same_v<T, bool> ? of_bool : std::is_integral_v<T>) {
      return row_of<T, T, combine<operation, T>>;
    } else if constexpr (std::is_floating_point_v<T> && operation == Binary::power) {
      return row_of<T, T, combine<operation, T>>;
    } else {
      return nullptr;
    }
  });
}

template <Comparison operation>
BinaryRow comparison_for_each_type(DType dtype) {
  return dispatch(dtype, []<class T>(T) -> BinaryRow {
    if constexpr (std::is_arithmetic_v<T>) return row_of<T, bool, compare<operation, T>>;
    return nullptr;
  });
}

template <Unary operation, class T>
T apply(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (operation == Unary::sign) return x != x ? x : static_cast<T>((x > 0) - (x < 0));
    if constexpr (operation == Unary::expm1) return std::expm1(x);
    if constexpr (operation == Unary::log1p) return std::log1p(x);
    if constexpr (operation == Unary::sin) return std::sin(x);
    if constexpr (operation == Unary::cos) return std::cos(x);
    if constexpr (operation == Unary::erf) return std::erf(x);
  } else {
    const auto wide = static_cast<Wrapping<T>>(x);
    if constexpr (operation == Unary::negative) return static_cast<T>(Wrapping<T>{0} - wide);
    if constexpr (operation == Unary::absolute) return x < T{0} ? static_cast<T>(Wrapping<T>{0} - wide) : x;
    if constexpr (operation == Unary::sign)
      return static_cast<T>(static_cast<int>(x > T{0}) - static_cast<int>(x < T{0}));
    if constexpr (operation == Unary::square) return static_cast<T>(wide * wide);
    if constexpr (operation == Unary::relu) return x < T{0} ? T{0} : x;
  }
}

template <class T, T (*function)(T)>
void unary_row_of(const void* x, void* out, Index n) {
  const auto* from = static_cast<const T*>(x);
  auto* to = static_cast<T*>(out);
  for (Index i = 0; i < n; ++i) to[i] = function(from[i]);
}

template <Unary operation>
UnaryRow floating_row(DType dtype) {
  if (dtype == DType::float32) return unary_row_of<float, apply<operation, float>>;
  if (dtype == DType::float64) return unary_row_of<double, apply<operation, double>>;
  return nullptr;
}

template <Unary operation>
UnaryRow integer_row(DType dtype) {
  return dispatch(dtype, []<class T>(T) -> UnaryRow {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return unary_row_of<T, apply<operation, T>>;
    return nullptr;
  });
}

}  // namespace

BinaryRow binary_row(Binary operation, DType dtype) {
  if (const BinaryRow row = simd_binary_row(operation, dtype)) return row;
  switch (operation) {
    case Binary::add:
      return row_for_each_type<Binary::add>(dtype);
    case Binary::subtract:
      return row_for_each_type<Binary::subtract>(dtype);
    case Binary::multiply:
      return row_for_each_type<Binary::multiply>(dtype);
    case Binary::power:
      return row_for_each_type<Binary::power>(dtype);
    case Binary::maximum:
      return row_for_each_type<Binary::maximum>(dtype);
    case Binary::minimum:
      return row_for_each_type<Binary::minimum>(dtype);
    case Binary::divide:
      break;
  }
  return nullptr;
}

BinaryRow comparison_row(Comparison operation, DType dtype) {
  switch (operation) {
    case Comparison::equal:
      return comparison_for_each_type<Comparison::equal>(dtype);
    case Comparison::not_equal:
      return comparison_for_each_type<Comparison::not_equal>(dtype);
    case Comparison::less:
      return comparison_for_each_type<Comparison::less>(dtype);
    case Comparison::less_equal:
      break;
  }
  return comparison_for_each_type<Comparison::less_equal>(dtype);
}

UnaryRow unary_row(Unary operation, DType dtype) {
  if (const UnaryRow row = simd_unary_row(operation, dtype)) return row;
  switch (operation) {
    case Unary::negative:
      return integer_row<Unary::negative>(dtype);
    case Unary::absolute:
      return integer_row<Unary::absolute>(dtype);
    case Unary::square:
      return integer_row<Unary::square>(dtype);
    case Unary::relu:
      return integer_row<Unary::relu>(dtype);
    case Unary::sign:
      return is_floating(dtype) ? floating_row<Unary::sign>(dtype) : integer_row<Unary::sign>(dtype);
    case Unary::expm1:
      return floating_row<Unary::expm1>(dtype);
    case Unary::log1p:
      return floating_row<Unary::log1p>(dtype);
    case Unary::sin:
      return floating_row<Unary::sin>(dtype);
    case Unary::cos:
      return floating_row<Unary::cos>(dtype);
    case Unary::erf:
      return floating_row<Unary::erf>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace strata::internal
