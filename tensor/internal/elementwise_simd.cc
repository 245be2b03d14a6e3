// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/tensor/internal/elementwise_simd.cc"
#include "strata/tensor/internal/simd-inl.h"
#include "strata/tensor/internal/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::internal::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct AddOp {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct SubtractOp {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};

struct MultiplyOp {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

struct DivideOp {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Div(a, b);
  }
};

// NaN if either is: a comparison with NaN is false, which leaves a NaN in `a` where it is.
struct MaximumOp {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Gt(b, a), hn::IsNaN(b)), b, a);
  }
};

struct MinimumOp {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Lt(b, a), hn::IsNaN(b)), b, a);
  }
};

// Operands come through functions that load N elements from position i. The elements after the last whole vector run
// through the same operation, one by one.
template <class T, class Op, class LoadA, class LoadB>
HWY_INLINE void Loop(T* out, Index n, const Op& op, const LoadA& load_a, const LoadB& load_b) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> single;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(op(d, load_a(d, i), load_b(d, i)), d, out + i);
  for (; i < n; ++i) hn::StoreU(op(single, load_a(single, i), load_b(single, i)), single, out + i);
}

template <class T, class Op>
void BinaryLoop(const void* a, Index step_a, const void* b, Index step_b, void* out, Index n) {
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  auto* to = static_cast<T*>(out);
  const auto each_x = [x](auto d, Index i) HWY_ATTR { return hn::LoadU(d, x + i); };
  const auto each_y = [y](auto d, Index i) HWY_ATTR { return hn::LoadU(d, y + i); };
  if (step_a != 0 && step_b != 0) {
    Loop<T>(to, n, Op(), each_x, each_y);
  } else if (step_a != 0) {
    Loop<T>(to, n, Op(), each_x, [y = *y](auto d, Index) HWY_ATTR { return hn::Set(d, y); });
  } else {
    Loop<T>(
        to, n, Op(), [x = *x](auto d, Index) HWY_ATTR { return hn::Set(d, x); }, each_y);
  }
}

template <class T>
BinaryRow BinaryRowOf(Binary operation) {
  switch (operation) {
    case Binary::add:
      return BinaryLoop<T, AddOp>;
    case Binary::subtract:
      return BinaryLoop<T, SubtractOp>;
    case Binary::multiply:
      return BinaryLoop<T, MultiplyOp>;
    case Binary::divide:
      return BinaryLoop<T, DivideOp>;
    case Binary::maximum:
      return BinaryLoop<T, MaximumOp>;
    case Binary::minimum:
      return BinaryLoop<T, MinimumOp>;
    case Binary::power:
      break;
  }
  return nullptr;
}

template <class T, class Op>
void UnaryLoop(const void* x, void* out, Index n) {
  const auto* from = static_cast<const T*>(x);
  const auto each = [from](auto d, Index i) HWY_ATTR { return hn::LoadU(d, from + i); };
  Loop<T>(static_cast<T*>(out), n, Op(), each, [](auto d, Index) HWY_ATTR { return hn::Zero(d); });
}

#define STRATA_UNARY_OP(name, expression)             \
  struct name {                                       \
    template <class D, class V>                       \
    HWY_INLINE V operator()(D d, V x, V zero) const { \
      static_cast<void>(d), static_cast<void>(zero);  \
      return expression;                              \
    }                                                 \
  };

STRATA_UNARY_OP(NegativeOp, hn::Neg(x))
STRATA_UNARY_OP(AbsoluteOp, hn::Abs(x))
STRATA_UNARY_OP(SquareOp, hn::Mul(x, x))
STRATA_UNARY_OP(SqrtOp, hn::Sqrt(x))
STRATA_UNARY_OP(RsqrtOp, hn::Div(hn::Set(d, hn::TFromD<D>{1}), hn::Sqrt(x)))
STRATA_UNARY_OP(ReluOp, hn::IfThenElse(hn::Lt(x, zero), zero, x))
STRATA_UNARY_OP(ExpOp, Exp(d, x))
STRATA_UNARY_OP(LogOp, Log(d, x))
STRATA_UNARY_OP(SigmoidOp, Sigmoid(d, x))
STRATA_UNARY_OP(TanhOp, Tanh(d, x))
#undef STRATA_UNARY_OP

template <class T>
UnaryRow UnaryRowOf(Unary operation) {
  switch (operation) {
    case Unary::negative:
      return UnaryLoop<T, NegativeOp>;
    case Unary::absolute:
      return UnaryLoop<T, AbsoluteOp>;
    case Unary::square:
      return UnaryLoop<T, SquareOp>;
    case Unary::sqrt:
      return UnaryLoop<T, SqrtOp>;
    case Unary::rsqrt:
      return UnaryLoop<T, RsqrtOp>;
    case Unary::relu:
      return UnaryLoop<T, ReluOp>;
    case Unary::exp:
      return UnaryLoop<T, ExpOp>;
    case Unary::log:
      return UnaryLoop<T, LogOp>;
    case Unary::sigmoid:
      return UnaryLoop<T, SigmoidOp>;
    case Unary::tanh:
      return UnaryLoop<T, TanhOp>;
    default:
      return nullptr;
  }
}

BinaryRow FindBinaryRow(Binary operation, DType dtype) {
  if (dtype == DType::float32) return BinaryRowOf<float>(operation);
  if (dtype == DType::float64) return BinaryRowOf<double>(operation);
  return nullptr;
}

UnaryRow FindUnaryRow(Unary operation, DType dtype) {
  if (dtype == DType::float32) return UnaryRowOf<float>(operation);
  if (dtype == DType::float64) return UnaryRowOf<double>(operation);
  return nullptr;
}

}  // namespace strata::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::internal {

HWY_EXPORT(FindBinaryRow);
HWY_EXPORT(FindUnaryRow);

BinaryRow simd_binary_row(Binary operation, DType dtype) { return STRATA_DISPATCH(FindBinaryRow)(operation, dtype); }
UnaryRow simd_unary_row(Unary operation, DType dtype) { return STRATA_DISPATCH(FindUnaryRow)(operation, dtype); }

}  // namespace strata::internal
#endif
