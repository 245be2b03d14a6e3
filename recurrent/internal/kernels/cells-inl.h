// SPDX-License-Identifier: Apache-2.0

// What the cells do with their sums: one vector of units of one row at a time. A cell has
//
//   layout     how its sums and records are laid out
//   advance    sums of the pre-activations -> the new state; updates the memory, and fills the record if there is one
//              (which may be where the sums are)
//   retreat    record and gradient of the new state -> gradients of the pre-activations and, beside the product with
//              them, of the old state; updates the gradient of the memory

#include "strata/recurrent/internal/kernels/product-inl.h"
#include "strata/tensor/internal/vector_math-inl.h"

#if defined(STRATA_RECURRENT_INTERNAL_CELLS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_RECURRENT_INTERNAL_CELLS_INL_H_
#undef STRATA_RECURRENT_INTERNAL_CELLS_INL_H_
#else
#define STRATA_RECURRENT_INTERNAL_CELLS_INL_H_
#endif

#include "strata/recurrent/internal/kernels/cell_layout.h"

HWY_BEFORE_NAMESPACE();
namespace strata::recurrent::internal::HWY_NAMESPACE {
namespace math = ::strata::internal::HWY_NAMESPACE;

// Places of a vector of units of one row; `memory` and `record` where the cell has them. All aligned.
template <class T>
struct UnitPlaces {
  const T* sums;  // [slot][lanes]
  const T* h_before;
  T* memory;
  T* record;
};

template <class T>
struct UnitGradients {
  const T* h_before;
  const T* record;
  T* memory;  // gradient of the memory after the step -> before it
  T* gates;   // gradients of the pre-activations, [slot][lanes]
};

template <class V>
struct SigmoidTanh {
  V sigmoid;
  V tanh;
  V product;
};

// s(x), tanh(y) and s(x) tanh(y) with one division.
template <class D, class V>
HWY_INLINE SigmoidTanh<V> sigmoid_tanh(D d, V x, V y) {
  const V a = math::SigmoidDenominator(d, x);
  const auto t = math::TanhFraction(d, y);
  const V reciprocal = hn::Div(hn::Set(d, hn::TFromD<D>{1}), hn::Mul(a, t.denominator));
  const V product = hn::Mul(reciprocal, t.numerator);
  return {hn::Mul(reciprocal, t.denominator), hn::Mul(product, a), product};
}

// s'(x) and tanh'(x), from the value of the function.
template <class D, class V>
HWY_INLINE V sigmoid_slope(D, V s) {
  return hn::NegMulAdd(s, s, s);
}
template <class D, class V>
HWY_INLINE V tanh_slope(D d, V t) {
  return hn::NegMulAdd(t, t, hn::Set(d, hn::TFromD<D>{1}));
}

struct LstmCell {
  static constexpr CellLayout layout = lstm_layout;

  template <class T>
  static HWY_INLINE Vector<T> advance(CellKind, const UnitPlaces<T>& at) {
    const Tag<T> d;
    const auto sum = [&](int s) HWY_ATTR { return hn::Load(d, at.sums + s * lanes<T>); };
    const auto input = sigmoid_tanh(d, sum(0), sum(2));
    const Vector<T> f = math::Sigmoid(d, sum(1));
    const Vector<T> c_before = hn::Load(d, at.memory);
    const Vector<T> c = hn::MulAdd(f, c_before, input.product);
    const auto output = sigmoid_tanh(d, sum(3), c);
    hn::Store(c, d, at.memory);
    if (at.record != nullptr) {
      const Vector<T> record[] = {input.sigmoid, f, input.tanh, output.sigmoid, c_before, output.tanh};
      HWY_UNROLL(6)
      for (int s = 0; s < layout.saved; ++s) hn::Store(record[s], d, at.record + s * lanes<T>);
    }
    return output.product;
  }

  template <class T>
  static HWY_INLINE Vector<T> retreat(CellKind, Vector<T> dh, const UnitGradients<T>& at) {
    const Tag<T> d;
    const auto saved = [&](int s) HWY_ATTR { return hn::Load(d, at.record + s * lanes<T>); };
    const Vector<T> i = saved(0), f = saved(1), g = saved(2), o = saved(3), c_before = saved(4), tanh_c = saved(5);
    const Vector<T> dc = hn::MulAdd(hn::Mul(dh, o), tanh_slope(d, tanh_c), hn::Load(d, at.memory));
    hn::Store(hn::Mul(hn::Mul(dc, g), sigmoid_slope(d, i)), d, at.gates);
    hn::Store(hn::Mul(hn::Mul(dc, c_before), sigmoid_slope(d, f)), d, at.gates + lanes<T>);
    hn::Store(hn::Mul(hn::Mul(dc, i), tanh_slope(d, g)), d, at.gates + 2 * lanes<T>);
    hn::Store(hn::Mul(hn::Mul(dh, tanh_c), sigmoid_slope(d, o)), d, at.gates + 3 * lanes<T>);
    hn::Store(hn::Mul(dc, f), d, at.memory);
    return hn::Zero(d);
  }
};

struct GruCell {
  static constexpr CellLayout layout = gru_layout;

  template <class T>
  static HWY_INLINE Vector<T> advance(CellKind, const UnitPlaces<T>& at) {
    const Tag<T> d;
    const auto sum = [&](int s) HWY_ATTR { return hn::Load(d, at.sums + s * lanes<T>); };
    const Vector<T> r = math::Sigmoid(d, sum(1));
    const Vector<T> n_state = sum(3);
    const auto zn = sigmoid_tanh(d, sum(2), hn::MulAdd(r, n_state, sum(0)));
    const Vector<T> h_before = hn::Load(d, at.h_before);
    if (at.record != nullptr) {
      const Vector<T> record[] = {zn.tanh, r, zn.sigmoid, n_state};
      HWY_UNROLL(4)
      for (int s = 0; s < layout.saved; ++s) hn::Store(record[s], d, at.record + s * lanes<T>);
    }
    return hn::MulAdd(zn.sigmoid, h_before, hn::Sub(zn.tanh, zn.product));
  }

  template <class T>
  static HWY_INLINE Vector<T> retreat(CellKind, Vector<T> dh, const UnitGradients<T>& at) {
    const Tag<T> d;
    const auto saved = [&](int s) HWY_ATTR { return hn::Load(d, at.record + s * lanes<T>); };
    const Vector<T> n = saved(0), r = saved(1), z = saved(2), n_state = saved(3);
    const Vector<T> h_before = hn::Load(d, at.h_before);
    const Vector<T> dn = hn::Mul(hn::NegMulAdd(dh, z, dh), tanh_slope(d, n));
    hn::Store(dn, d, at.gates);
    hn::Store(hn::Mul(hn::Mul(dn, n_state), sigmoid_slope(d, r)), d, at.gates + lanes<T>);
    hn::Store(hn::Mul(hn::Mul(dh, hn::Sub(h_before, n)), sigmoid_slope(d, z)), d, at.gates + 2 * lanes<T>);
    hn::Store(hn::Mul(dn, r), d, at.gates + 3 * lanes<T>);
    return hn::Mul(dh, z);
  }
};

struct SimpleCell {
  static constexpr CellLayout layout = simple_layout;

  template <class T>
  static HWY_INLINE Vector<T> advance(CellKind kind, const UnitPlaces<T>& at) {
    const Tag<T> d;
    const Vector<T> sum = hn::Load(d, at.sums);
    // Compared this way round, NaN stays NaN.
    const Vector<T> h =
        kind == CellKind::simple_relu ? hn::IfThenZeroElse(hn::Lt(sum, hn::Zero(d)), sum) : math::Tanh(d, sum);
    if (at.record != nullptr) hn::Store(h, d, at.record);
    return h;
  }

  template <class T>
  static HWY_INLINE Vector<T> retreat(CellKind kind, Vector<T> dh, const UnitGradients<T>& at) {
    const Tag<T> d;
    const Vector<T> h = hn::Load(d, at.record);
    const Vector<T> da =
        kind == CellKind::simple_relu ? hn::IfThenElseZero(hn::Gt(h, hn::Zero(d)), dh) : hn::Mul(dh, tanh_slope(d, h));
    hn::Store(da, d, at.gates);
    return hn::Zero(d);
  }
};

// f(a value of the cell's type), for the cell of a kind.
template <class F>
auto with_cell(CellKind kind, F f) {
  switch (kind) {
    case CellKind::lstm:
      return f(LstmCell{});
    case CellKind::gru:
      return f(GruCell{});
    case CellKind::simple_tanh:
    case CellKind::simple_relu:
      break;
  }
  return f(SimpleCell{});
}

}  // namespace strata::recurrent::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
