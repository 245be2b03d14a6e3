// SPDX-License-Identifier: Apache-2.0

// Every operation here rounds as it does in XLA's code for CPUs with fused multiply-add, so that the numbers are those
// of JAX to the last bit: which products are fused into sums, and which are not, is part of the definition. No plain
// product is an operand of a plain sum, as compilers would fuse the two. Instruction sets without a fused operation
// emulate it.

#include "strata/tensor/internal/random_kernels.h"

#include <cmath>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/tensor/internal/random_kernels.cc"
#include "strata/tensor/internal/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::internal::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if !HWY_NATIVE_FMA && HWY_TARGET != HWY_SCALAR

// a b + c in double, rounded to odd: the last bit of an inexact sum is set, so that rounding to float afterwards gives
// what rounding once would have given.
template <class D, class V>
HWY_INLINE V FusedToOdd(D d, V a, V b, V c) {
  const hn::RebindToSigned<D> di;
  const V product = hn::Mul(a, b);  // exact
  const V sum = hn::Add(product, c);
  const V part = hn::Sub(sum, product);
  const V error = hn::Add(hn::Sub(product, hn::Sub(sum, part)), hn::Sub(c, part));
  const auto bits = hn::BitCast(di, sum);
  const auto one = hn::Set(di, 1);
  const auto opposite = hn::ShiftRight<63>(hn::BitCast(di, hn::Xor(sum, error)));
  const auto odd = hn::BitCast(d, hn::Add(bits, hn::Or(opposite, one)));
  const auto is_even = hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(di, hn::Eq(hn::And(bits, one), hn::Zero(di)))));
  return hn::IfThenElse(hn::And(is_even, hn::Ne(error, hn::Zero(d))), odd, sum);
}

#endif

// a b + c, rounded once.
template <class D, class V>
HWY_INLINE V Fused([[maybe_unused]] D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#elif HWY_TARGET == HWY_SCALAR
  return hn::Set(d, std::fma(hn::GetLane(a), hn::GetLane(b), hn::GetLane(c)));
#else
  const hn::Half<D> half;
  const hn::Repartition<double, D> dd;
  const auto lower = FusedToOdd(dd, hn::PromoteTo(dd, hn::LowerHalf(half, a)),
                                hn::PromoteTo(dd, hn::LowerHalf(half, b)), hn::PromoteTo(dd, hn::LowerHalf(half, c)));
  const auto upper = FusedToOdd(dd, hn::PromoteTo(dd, hn::UpperHalf(half, a)),
                                hn::PromoteTo(dd, hn::UpperHalf(half, b)), hn::PromoteTo(dd, hn::UpperHalf(half, c)));
  return hn::Combine(d, hn::DemoteTo(half, upper), hn::DemoteTo(half, lower));
#endif
}

// c[0] x^(count - 1) + ... + c[count - 1], by Horner's rule.
template <class D, class V, int count>
HWY_INLINE V Horner(D d, V x, const float (&c)[count]) {
  V sum = hn::Set(d, c[0]);
  for (int i = 1; i < count; ++i) sum = Fused(d, sum, x, hn::Set(d, c[i]));
  return sum;
}

template <int r0, int r1, int r2, int r3, class V>
HWY_INLINE void FourRounds(V& x0, V& x1) {
  x0 = hn::Add(x0, x1);
  x1 = hn::Xor(hn::RotateRight<32 - r0>(x1), x0);
  x0 = hn::Add(x0, x1);
  x1 = hn::Xor(hn::RotateRight<32 - r1>(x1), x0);
  x0 = hn::Add(x0, x1);
  x1 = hn::Xor(hn::RotateRight<32 - r2>(x1), x0);
  x0 = hn::Add(x0, x1);
  x1 = hn::Xor(hn::RotateRight<32 - r3>(x1), x0);
}

// Words `first`, `first + 1`, ... of a key: the two outputs of Threefry-2x32 for each counter, xor-ed. The high word of
// the counter is the same for all of them, as `first` is a multiple of their number.
template <class D>
HWY_INLINE hn::Vec<D> Words(D d, RandomKey key, std::uint64_t first) {
  const std::uint32_t k0 = key.high;
  const std::uint32_t k1 = key.low;
  const std::uint32_t k2 = k0 ^ k1 ^ 0x1BD11BDAU;
  auto x0 = hn::Set(d, static_cast<std::uint32_t>(first >> 32) + k0);
  auto x1 = hn::Add(hn::Iota(d, static_cast<std::uint32_t>(first)), hn::Set(d, k1));
  const auto inject = [&](std::uint32_t a, std::uint32_t b) HWY_ATTR {
    x0 = hn::Add(x0, hn::Set(d, a));
    x1 = hn::Add(x1, hn::Set(d, b));
  };
  FourRounds<13, 15, 26, 6>(x0, x1);
  inject(k1, k2 + 1);
  FourRounds<17, 29, 16, 24>(x0, x1);
  inject(k2, k0 + 2);
  FourRounds<13, 15, 26, 6>(x0, x1);
  inject(k0, k1 + 3);
  FourRounds<17, 29, 16, 24>(x0, x1);
  inject(k1, k2 + 4);
  FourRounds<13, 15, 26, 6>(x0, x1);
  inject(k2, k0 + 5);
  return hn::Xor(x0, x1);
}

// Numbers in [low, high) from words: the upper 23 bits are the mantissa of a number in [1, 2).
template <class D, class W>
HWY_INLINE hn::Vec<D> Uniform(D d, W words, const DrawRange& range) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::Or(hn::ShiftRight<9>(words), hn::Set(du, 0x3F800000U));
  const auto unit = hn::Sub(hn::BitCast(d, bits), hn::Set(d, 1.0F));
  const auto low = hn::Set(d, range.low);
  return hn::Max(low, Fused(d, unit, hn::Set(d, range.high - range.low), low));
}

// Natural logarithm of a normal positive number, by the polynomial of Cephes (S. Moshier).
template <class D, class V>
HWY_INLINE V LogNormal(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  const auto one = hn::Set(d, 1.0F);
  // x = 2^n m with sqrt(1/2) <= m < sqrt(2); f = m - 1.
  const V half_one = hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(di, 0x7FFFFF)), hn::Set(di, 0x3F000000)));
  const auto is_low = hn::Lt(half_one, hn::Set(d, 0.707106781186547524F));
  const V f = hn::Add(hn::Sub(half_one, one), hn::IfThenElseZero(is_low, half_one));
  const V exponent = hn::ConvertTo(d, hn::Sub(hn::ShiftRight<23>(bits), hn::Set(di, 126)));
  const V n = hn::Sub(exponent, hn::IfThenElseZero(is_low, one));
  const V f2 = hn::Mul(f, f);
  const V f3 = hn::Mul(f2, f);
  constexpr float high[] = {7.0376836292e-2F, -1.1514610310e-1F, 1.1676998740e-1F};
  constexpr float middle[] = {-1.2420140846e-1F, 1.4249322787e-1F, -1.6668057665e-1F};
  constexpr float low[] = {2.0000714765e-1F, -2.4999993993e-1F, 3.3333331174e-1F};
  const V upper = Fused(d, Horner(d, f, high), f3, Horner(d, f, middle));
  const V series = Fused(d, upper, f3, Horner(d, f, low));
  const V small = Fused(d, series, f3, hn::Mul(n, hn::Set(d, -2.12194440e-4F)));
  const V sum = hn::Add(Fused(d, hn::Set(d, -0.5F), f2, f), small);
  return Fused(d, n, hn::Set(d, 0.693359375F), sum);
}

// log(1 + x) for -1 < x <= 0: near 0 by the rational function of Cephes.
template <class D, class V>
HWY_INLINE V Log1p(D d, V x) {
  constexpr float numerator[] = {4.5270000862445199635215e-5F, 4.9854102823193375972212e-1F, 6.5787325942061044846969F,
                                 29.911919328553073277375F,    60.949667980987787057556F,    57.112963590585538103336F,
                                 20.039553499201281259648F};
  constexpr float denominator[] = {1.0F,
                                   15.062909083469192043167F,
                                   83.047565967967209469434F,
                                   221.76239823732856465394F,
                                   309.09872225312059774938F,
                                   216.42788614495947685003F,
                                   60.118660497603843919306F};
  const V x2 = hn::Mul(x, x);
  const V ratio = hn::Div(Horner(d, x, numerator), Horner(d, x, denominator));
  const V near_zero = hn::Add(x, Fused(d, hn::Set(d, -0.5F), x2, hn::Mul(hn::Mul(x, x2), ratio)));
  const V elsewhere = LogNormal(d, hn::Add(x, hn::Set(d, 1.0F)));
  return hn::IfThenElse(hn::Lt(hn::Neg(x), hn::Set(d, 0.414213562373095F)), near_zero, elsewhere);
}

// The inverse of erf for |x| <= 1. M. Giles, "Approximating the erfinv function" (2010), single precision.
template <class D, class V>
HWY_INLINE V ErfInv(D d, V x) {
  constexpr float centre[] = {2.81022636e-08F, 3.43273939e-07F, -3.5233877e-06F, -4.39150654e-06F, 0.00021858087F,
                              -0.00125372503F, -0.00417768164F, 0.246640727F,    1.50140941F};
  constexpr float tail[] = {-0.000200214257F, 0.000100950558F, 0.00134934322F, -0.00367342844F, 0.00573950773F,
                            -0.0076224613F,   0.00943887047F,  1.00167406F,    2.83297682F};
  const V minus_square = Fused(d, hn::Neg(x), x, hn::Set(d, -0.0F));
  const V w = hn::Neg(Log1p(d, minus_square));
  const auto is_centre = hn::Lt(w, hn::Set(d, 5.0F));
  const V y = hn::IfThenElse(is_centre, hn::Sub(w, hn::Set(d, 2.5F)), hn::Sub(hn::Sqrt(w), hn::Set(d, 3.0F)));
  const auto coefficient = [&](std::size_t i) HWY_ATTR {
    return hn::IfThenElse(is_centre, hn::Set(d, centre[i]), hn::Set(d, tail[i]));
  };
  V sum = coefficient(0);
  for (std::size_t i = 1; i < std::size(centre); ++i) sum = Fused(d, sum, y, coefficient(i));
  const auto is_end = hn::Eq(hn::Abs(x), hn::Set(d, 1.0F));
  return hn::Mul(x, hn::IfThenElse(is_end, hn::Set(d, std::numeric_limits<float>::infinity()), sum));
}

// Stores transform(words) of the words `first`, `first + 1`, ...; the last vector, which may reach beyond the end, is
// computed whole as well, so that a number does not depend on its place in the vector.
template <class T, class F>
HWY_INLINE void Draw(RandomKey key, std::uint64_t first, std::span<T> out, const F& transform) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= out.size(); i += lanes) hn::StoreU(transform(Words(du, key, first + i)), d, out.data() + i);
  if (i == out.size()) return;
  HWY_ALIGN T rest[hn::MaxLanes(d)];
  hn::Store(transform(Words(du, key, first + i)), d, rest);
  for (std::size_t lane = 0; i < out.size(); ++lane, ++i) out[i] = rest[lane];
}

void DrawWords(RandomKey key, std::uint64_t first, std::span<std::uint32_t> out) {
  Draw(key, first, out, [](auto words) HWY_ATTR { return words; });
}

void DrawUniform(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out) {
  const hn::ScalableTag<float> d;
  Draw(key, first, out, [&](auto words) HWY_ATTR { return Uniform(d, words, range); });
}

void DrawNormal(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out) {
  const hn::ScalableTag<float> d;
  Draw(key, first, out, [&](auto words) HWY_ATTR {
    const auto y = hn::Mul(hn::Set(d, 1.41421356237309504880F), ErfInv(d, Uniform(d, words, range)));
    return hn::Min(hn::Max(y, hn::Set(d, range.least)), hn::Set(d, range.greatest));
  });
}

void DrawGumbel(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out) {
  const hn::ScalableTag<float> d;
  Draw(key, first, out,
       [&](auto words) HWY_ATTR { return hn::Neg(LogNormal(d, hn::Neg(LogNormal(d, Uniform(d, words, range))))); });
}

void DrawExponential(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out) {
  const hn::ScalableTag<float> d;
  Draw(key, first, out, [&](auto words) HWY_ATTR { return hn::Neg(Log1p(d, hn::Neg(Uniform(d, words, range)))); });
}

}  // namespace strata::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::internal {

HWY_EXPORT(DrawWords);
HWY_EXPORT(DrawUniform);
HWY_EXPORT(DrawNormal);
HWY_EXPORT(DrawGumbel);
HWY_EXPORT(DrawExponential);

void draw_words(RandomKey key, std::uint64_t first, std::span<std::uint32_t> out) {
  STRATA_DISPATCH(DrawWords)(key, first, out);
}

void draw_uniform(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out) {
  STRATA_DISPATCH(DrawUniform)(key, first, range, out);
}

void draw_normal(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out) {
  STRATA_DISPATCH(DrawNormal)(key, first, range, out);
}

void draw_gumbel(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out) {
  STRATA_DISPATCH(DrawGumbel)(key, first, range, out);
}

void draw_exponential(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out) {
  STRATA_DISPATCH(DrawExponential)(key, first, range, out);
}

}  // namespace strata::internal
#endif
