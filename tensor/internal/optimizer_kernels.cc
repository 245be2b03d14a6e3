// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/optimizer_kernels.h"

#include "strata/tensor/thread_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/tensor/internal/optimizer_kernels.cc"
#include "strata/tensor/internal/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::internal::optimizer_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The step's numbers in the type of the parameters; divisions by them are products with their reciprocals.
template <typename T>
struct AdamFactors {
  explicit AdamFactors(const AdamStep& step)
      : rate(static_cast<T>(step.learning_rate)),
        beta1(static_cast<T>(step.beta1)),
        rest1(static_cast<T>(1 - step.beta1)),
        beta2(static_cast<T>(step.beta2)),
        rest2(static_cast<T>(1 - step.beta2)),
        epsilon(static_cast<T>(step.epsilon)),
        epsilon_root(static_cast<T>(step.epsilon_root)),
        decay(static_cast<T>(step.weight_decay)),
        scale1(static_cast<T>(1 / step.correction1)),
        scale2(static_cast<T>(1 / step.correction2)) {}

  T rate, beta1, rest1, beta2, rest2, epsilon, epsilon_root, decay, scale1, scale2;
};

template <class D, typename T>
HWY_INLINE void update_vector(D d, const AdamFactors<T>& f, const T* g, T* m, T* v, T* p) {
  const auto gradient = hn::LoadU(d, g);
  const auto first = hn::MulAdd(hn::Set(d, f.beta1), hn::LoadU(d, m), hn::Mul(hn::Set(d, f.rest1), gradient));
  const auto square = hn::Mul(gradient, gradient);
  const auto second = hn::MulAdd(hn::Set(d, f.beta2), hn::LoadU(d, v), hn::Mul(hn::Set(d, f.rest2), square));
  hn::StoreU(first, d, m);
  hn::StoreU(second, d, v);
  const auto root = hn::Sqrt(hn::MulAdd(second, hn::Set(d, f.scale2), hn::Set(d, f.epsilon_root)));
  const auto ratio = hn::Div(hn::Mul(first, hn::Set(d, f.scale1)), hn::Add(root, hn::Set(d, f.epsilon)));
  const auto parameter = hn::LoadU(d, p);
  const auto change = hn::MulAdd(hn::Set(d, f.decay), parameter, ratio);
  hn::StoreU(hn::NegMulAdd(hn::Set(d, f.rate), change, parameter), d, p);
}

template <typename T>
HWY_INLINE void update(const AdamStep& step, Index n, const T* g, T* m, T* v, T* p) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> single;
  const AdamFactors<T> factors(step);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= n; i += lanes) update_vector(d, factors, g + i, m + i, v + i, p + i);
  for (; i < n; ++i) update_vector(single, factors, g + i, m + i, v + i, p + i);
}

void adam_float(const AdamStep& step, Index n, const float* g, float* m, float* v, float* p) {
  update(step, n, g, m, v, p);
}

void adam_double(const AdamStep& step, Index n, const double* g, double* m, double* v, double* p) {
  update(step, n, g, m, v, p);
}

}  // namespace strata::internal::optimizer_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::internal {
namespace optimizer_kernels {

HWY_EXPORT(adam_float);
HWY_EXPORT(adam_double);

void adam(const AdamStep& step, Index n, const float* g, float* m, float* v, float* p) {
  STRATA_DISPATCH(adam_float)(step, n, g, m, v, p);
}

void adam(const AdamStep& step, Index n, const double* g, double* m, double* v, double* p) {
  STRATA_DISPATCH(adam_double)(step, n, g, m, v, p);
}

template <typename T>
void adam_in_chunks(const AdamStep& step, Index n, const T* g, T* m, T* v, T* p) {
  constexpr Index elements_per_chunk = 1 << 15;
  parallel_for(0, n, elements_per_chunk,
               [&](Index begin, Index end) { adam(step, end - begin, g + begin, m + begin, v + begin, p + begin); });
}

}  // namespace optimizer_kernels

void adam_update(const AdamStep& step, Index n, const float* g, float* m, float* v, float* p) {
  optimizer_kernels::adam_in_chunks(step, n, g, m, v, p);
}

void adam_update(const AdamStep& step, Index n, const double* g, double* m, double* v, double* p) {
  optimizer_kernels::adam_in_chunks(step, n, g, m, v, p);
}

}  // namespace strata::internal
#endif
