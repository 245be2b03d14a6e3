// SPDX-License-Identifier: Apache-2.0

// Exponential, logarithm and gate functions on Highway vectors of float or double, for use inside HWY_NAMESPACE code.
// Largest errors over the whole range, at every instruction set:
//
//                     float        double
//   Exp               1.1 ulp      1 ulp        subnormal results included
//   Log               1 ulp        1 ulp        subnormal arguments included
//   Sigmoid           3 ulp        3 ulp        results below 2^-127 (2^-1023) become 0
//   Tanh              5 ulp        3 ulp        |result| <= 1
//
// NaN stays NaN. The polynomials are minimax fits made for this file.

#include "strata/tensor/internal/simd-inl.h"

#if defined(STRATA_TENSOR_INTERNAL_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_TENSOR_INTERNAL_VECTOR_MATH_INL_H_
#undef STRATA_TENSOR_INTERNAL_VECTOR_MATH_INL_H_
#else
#define STRATA_TENSOR_INTERNAL_VECTOR_MATH_INL_H_
#endif

#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace strata::internal::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Numbers that depend on the float format. Adding `rounder` to a small number leaves it rounded to an integer in the
// lowest bits of the sum. `ln2_high` ends in enough zero bits that its product with such an integer is exact.
template <typename T>
struct FloatFormat;

template <>
struct FloatFormat<float> {
  static constexpr int mantissa_bits = 23;
  static constexpr float rounder = 12582912.0F;
  static constexpr float ln2_high = 0.693145751953125F;
  static constexpr float ln2_low = 1.42860682030941723e-6F;
  static constexpr float exp_lowest = -104.0F;
  static constexpr float exp_highest = 89.0F;
  static constexpr float gate_limit = 80.0F;
  static constexpr std::int32_t sqrt_half_bits = 0x3F3504F3;
};

template <>
struct FloatFormat<double> {
  static constexpr int mantissa_bits = 52;
  static constexpr double rounder = 6755399441055744.0;
  static constexpr double ln2_high = 0.69314718036912381649;
  static constexpr double ln2_low = 1.908214929270587816e-10;
  static constexpr double exp_lowest = -746.0;
  static constexpr double exp_highest = 710.0;
  static constexpr double gate_limit = 600.0;
  static constexpr std::int64_t sqrt_half_bits = 0x3FE6A09E667F3BCD;
};

// x limited to [low, high]; NaN stays NaN.
template <class D, class V>
HWY_INLINE V Clamp(D d, V x, hn::TFromD<D> low, hn::TFromD<D> high) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
  x = hn::IfThenElse(hn::Gt(x, hn::Set(d, high)), hn::Set(d, high), x);
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, low)), hn::Set(d, low), x);
#else
  // The order matters: with NaN, x86 returns the second operand.
  return hn::Max(hn::Set(d, low), hn::Min(hn::Set(d, high), x));
#endif
}

// c[0] + c[1] x + ..., in pairs to shorten the chain of dependent operations.
template <class D, class V, int count>
HWY_INLINE V Polynomial(D d, V x, const hn::TFromD<D> (&c)[count]) {
  const V x2 = hn::Mul(x, x);
  const auto pair = [&](int i) HWY_ATTR { return hn::MulAdd(hn::Set(d, c[i + 1]), x, hn::Set(d, c[i])); };
  constexpr int last = (count - 1) / 2 * 2;
  V sum = last + 1 < count ? pair(last) : hn::Set(d, c[last]);
  for (int i = last - 2; i >= 0; i -= 2) sum = hn::MulAdd(sum, x2, pair(i));
  return sum;
}

// e^x = 2^n (1 + fraction) with |fraction| < 0.42, relatively exact also near 0. `biased` holds the integer n in its
// lowest bits.
template <class V>
struct SplitExp {
  V n;
  V biased;
  V fraction;
};

template <class D, class V>
HWY_INLINE SplitExp<V> ExpSplit(D d, V x) {
  using T = hn::TFromD<D>;
  using Format = FloatFormat<T>;
  const V rounder = hn::Set(d, Format::rounder);
  const V biased = hn::MulAdd(x, hn::Set(d, static_cast<T>(1.44269504088896340736)), rounder);
  const V n = hn::Sub(biased, rounder);
  V r = hn::NegMulAdd(n, hn::Set(d, Format::ln2_high), x);
  r = hn::NegMulAdd(n, hn::Set(d, Format::ln2_low), r);
  V q;
  if constexpr (sizeof(T) == sizeof(float)) {
    constexpr float c[] = {0.50000000621F, 0.16666542794F, 0.041666281410F, 0.0083666105872F, 0.0013946496240F};
    q = Polynomial(d, r, c);
  } else {
    constexpr double c[] = {0.49999999999999999986,     0.16666666666666676639,   0.041666666666666701485,
                            0.0083333333333215782753,   0.0013888888888866779297, 0.00019841269886266293788,
                            0.000024801587360669884517, 2.7557244061898388868e-6, 2.7557242663845035166e-7,
                            2.5109090412948642663e-8,   2.0924472598333800049e-9};
    q = Polynomial(d, r, c);
  }
  return {n, biased, hn::MulAdd(q, hn::Mul(r, r), r)};
}

// 2^n for the integer n in the lowest bits of `biased`; the result must be a normal number.
template <class D, class V>
HWY_INLINE V PowerOfTwo(D d, V biased) {
  const hn::RebindToSigned<D> di;
  const auto exponent = hn::ShiftLeft<FloatFormat<hn::TFromD<D>>::mantissa_bits>(hn::BitCast(di, biased));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, hn::Set(d, hn::TFromD<D>{1})), exponent));
}

// e^x.
template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  using T = hn::TFromD<D>;
  using Format = FloatFormat<T>;
  const SplitExp<V> e = ExpSplit(d, Clamp(d, x, Format::exp_lowest, Format::exp_highest));
  // In two halves, so that results at the ends of the range overflow and turn subnormal as they should.
  const V rounder = hn::Set(d, Format::rounder);
  const V half = hn::MulAdd(e.n, hn::Set(d, T{0.5}), rounder);
  const V rest = hn::Add(hn::Sub(e.n, hn::Sub(half, rounder)), rounder);
  const V scale = PowerOfTwo(d, half);
  return hn::Mul(hn::MulAdd(scale, e.fraction, scale), PowerOfTwo(d, rest));
}

// 1 + e^-x with x limited to `lowest` and above, which is not below -exp_highest: infinite where 2^n is.
template <class D, class V>
HWY_INLINE V OnePlusExpOfNegative(D d, V x, hn::TFromD<D> lowest) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T{1});
  const SplitExp<V> e = ExpSplit(d, hn::Neg(Clamp(d, x, lowest, FloatFormat<T>::gate_limit)));
  return hn::MulAdd(PowerOfTwo(d, e.biased), hn::Add(one, e.fraction), one);
}

// The reciprocal of Sigmoid, with x limited to 80 (600) in size so that its product with the denominator of
// TanhFraction stays finite: sigmoid(x) tanh(y) = n / (SigmoidDenominator(x) d) takes one division.
template <class D, class V>
HWY_INLINE V SigmoidDenominator(D d, V x) {
  return OnePlusExpOfNegative(d, x, -FloatFormat<hn::TFromD<D>>::gate_limit);
}

// 1 / (1 + e^-x).
template <class D, class V>
HWY_INLINE V Sigmoid(D d, V x) {
  using T = hn::TFromD<D>;
  return hn::Div(hn::Set(d, T{1}), OnePlusExpOfNegative(d, x, -FloatFormat<T>::exp_highest));
}

template <class V>
struct Fraction {
  V numerator;
  V denominator;
};

// tanh(x) as a fraction, at most 1 in size. float: x P(x^2) / Q(x^2). double: m / (m + 2) with m = e^(2|x|) - 1, formed
// without cancellation.
template <class D, class V>
HWY_INLINE Fraction<V> TanhFraction(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == sizeof(float)) {
    // At 9.3 the fraction, were it not limited, would be above 1 by two units: infinity gives 1 exactly.
    x = Clamp(d, x, -9.3F, 9.3F);
    const V x2 = hn::Mul(x, x);
    constexpr float p[] = {0.999999979906F, 0.133809832024F, 0.0034955341384F, 2.06080741609e-5F, 1.33530825226e-8F};
    constexpr float q[] = {1.0F, 0.467142989917F, 0.0258767858019F, 0.000328554105725F, 7.77594841126e-7F};
    const V denominator = Polynomial(d, x2, q);
    const V numerator = hn::Mul(x, Polynomial(d, x2, p));
    return {hn::Max(hn::Neg(denominator), hn::Min(denominator, numerator)), denominator};
  } else {
    const V sign = hn::And(x, hn::SignBit(d));
    const V twice = Clamp(d, hn::Abs(hn::Add(x, x)), T{0}, T{40});
    const SplitExp<V> e = ExpSplit(d, twice);
    const V one = hn::Set(d, T{1});
    const V scale = PowerOfTwo(d, e.biased);
    const V m = hn::MulAdd(scale, e.fraction, hn::Sub(scale, one));
    return {hn::Or(m, sign), hn::Add(m, hn::Set(d, T{2}))};
  }
}

template <class D, class V>
HWY_INLINE V Tanh(D d, V x) {
  const Fraction<V> f = TanhFraction(d, x);
  return hn::Div(f.numerator, f.denominator);
}

// Natural logarithm: -inf at 0, NaN below.
template <class D, class V>
HWY_INLINE V Log(D d, V x) {
  using T = hn::TFromD<D>;
  using Format = FloatFormat<T>;
  using Limits = std::numeric_limits<T>;
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, T{1});
  const auto is_tiny = hn::Lt(x, hn::Set(d, Limits::min()));
  constexpr T lift = sizeof(T) == sizeof(float) ? T{33554432} : T{18014398509481984};
  constexpr T lift_log2 = sizeof(T) == sizeof(float) ? T{25} : T{54};
  const auto bits = hn::BitCast(di, hn::IfThenElse(is_tiny, hn::Mul(x, hn::Set(d, lift)), x));
  // x = 2^n m with sqrt(1/2) <= m < sqrt(2).
  const auto base = hn::Set(di, Format::sqrt_half_bits);
  const auto exponent = hn::ShiftRight<Format::mantissa_bits>(hn::Sub(bits, base));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<Format::mantissa_bits>(exponent)));
  const V n = hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(is_tiny, hn::Set(d, lift_log2)));
  const V f = hn::Sub(m, one);
  const V s = hn::Div(f, hn::Add(f, hn::Set(d, T{2})));
  const V z = hn::Mul(s, s);
  V series;
  if constexpr (sizeof(T) == sizeof(float)) {
    constexpr float c[] = {0.666666665526F, 0.400001230918F, 0.285506989221F, 0.233334188888F};
    series = hn::Mul(z, Polynomial(d, z, c));
  } else {
    constexpr double c[] = {0.66666666666666666461, 0.40000000000000892494, 0.28571428570794754794,
                            0.22222222393605786175, 0.18181795448122960572, 0.15386249686573527713,
                            0.13268516191479628325, 0.13089219771160175271};
    series = hn::Mul(z, Polynomial(d, z, c));
  }
  // log m = f - f^2/2 + s (f^2/2 + series), and n ln 2 in two parts, the small terms first.
  const V half_square = hn::Mul(hn::Set(d, T{0.5}), hn::Mul(f, f));
  const V small = hn::MulAdd(s, hn::Add(half_square, series), hn::Mul(n, hn::Set(d, Format::ln2_low)));
  const V sum = hn::Sub(f, hn::Sub(half_square, small));
  const V result = hn::MulAdd(n, hn::Set(d, Format::ln2_high), sum);
  const V infinity = hn::Set(d, Limits::infinity());
  const V special = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), hn::Set(d, Limits::quiet_NaN()));
  const V positive = hn::IfThenElse(hn::Lt(x, infinity), result, x);
  return hn::IfThenElse(hn::Le(x, hn::Zero(d)), special, positive);
}

}  // namespace strata::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
