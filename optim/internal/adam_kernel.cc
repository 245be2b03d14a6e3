// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/internal/adam_kernel.h"

#include "strata/tensor/thread_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/optim/internal/adam_kernel.cc"
#include "strata/tensor/internal/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::optim::internal::HWY_NAMESPACE {
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
        mean_of_m(static_cast<T>(step.nesterov ? step.beta1 / step.next_correction1 : 1 / step.correction1)),
        mean_of_g(static_cast<T>(step.nesterov ? (1 - step.beta1) / step.correction1 : 0)),
        scale2(static_cast<T>(1 / step.correction2)) {}

  T rate, beta1, rest1, beta2, rest2, epsilon, epsilon_root, decay, mean_of_m, mean_of_g, scale2;
};

// Elements i of all. The result is p + u with `adds`, u otherwise, and may stand where g or p stands.
template <bool nesterov, bool adds, class D, typename T>
HWY_INLINE void run_vector(D d, const AdamFactors<T>& f, const T* g, T* m, T* v, const T* p, T* result) {
  const auto gradient = hn::LoadU(d, g);
  const auto first = hn::MulAdd(hn::Set(d, f.beta1), hn::LoadU(d, m), hn::Mul(hn::Set(d, f.rest1), gradient));
  const auto square = hn::Mul(gradient, gradient);
  const auto second = hn::MulAdd(hn::Set(d, f.beta2), hn::LoadU(d, v), hn::Mul(hn::Set(d, f.rest2), square));
  hn::StoreU(first, d, m);
  hn::StoreU(second, d, v);
  const auto root = hn::Sqrt(hn::MulAdd(second, hn::Set(d, f.scale2), hn::Set(d, f.epsilon_root)));
  auto mean = hn::Mul(first, hn::Set(d, f.mean_of_m));
  if constexpr (nesterov) mean = hn::MulAdd(gradient, hn::Set(d, f.mean_of_g), mean);
  const auto ratio = hn::Div(mean, hn::Add(root, hn::Set(d, f.epsilon)));
  const auto parameter = hn::LoadU(d, p);
  const auto change = hn::MulAdd(hn::Set(d, f.decay), parameter, ratio);
  const auto base = adds ? parameter : hn::Zero(d);
  hn::StoreU(hn::NegMulAdd(hn::Set(d, f.rate), change, base), d, result);
}

template <bool nesterov, bool adds, typename T>
HWY_INLINE void run(const AdamStep& step, Index n, const T* g, T* m, T* v, const T* p, T* result) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> single;
  const AdamFactors<T> f(step);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= n; i += lanes) run_vector<nesterov, adds>(d, f, g + i, m + i, v + i, p + i, result + i);
  for (; i < n; ++i) run_vector<nesterov, adds>(single, f, g + i, m + i, v + i, p + i, result + i);
}

template <bool adds, typename T>
HWY_INLINE void run_either(const AdamStep& step, Index n, const T* g, T* m, T* v, const T* p, T* result) {
  step.nesterov ? run<true, adds>(step, n, g, m, v, p, result) : run<false, adds>(step, n, g, m, v, p, result);
}

void step_float(const AdamStep& step, Index n, const float* g, float* m, float* v, float* p) {
  run_either<true>(step, n, g, m, v, p, p);
}
void step_double(const AdamStep& step, Index n, const double* g, double* m, double* v, double* p) {
  run_either<true>(step, n, g, m, v, p, p);
}
void update_float(const AdamStep& step, Index n, float* g, float* m, float* v, const float* p) {
  run_either<false>(step, n, g, m, v, p, g);
}
void update_double(const AdamStep& step, Index n, double* g, double* m, double* v, const double* p) {
  run_either<false>(step, n, g, m, v, p, g);
}

}  // namespace strata::optim::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::optim::internal {

HWY_EXPORT(step_float);
HWY_EXPORT(step_double);
HWY_EXPORT(update_float);
HWY_EXPORT(update_double);

namespace {

template <class F>
void in_chunks(Index n, const F& f) {
  constexpr Index elements_per_chunk = 1 << 15;
  parallel_for(0, n, elements_per_chunk, [&](Index begin, Index end) { f(begin, end - begin); });
}

}  // namespace

void adam_step(const AdamStep& step, Index n, const float* g, float* m, float* v, float* p) {
  in_chunks(n, [&](Index i, Index count) { STRATA_DISPATCH(step_float)(step, count, g + i, m + i, v + i, p + i); });
}

void adam_step(const AdamStep& step, Index n, const double* g, double* m, double* v, double* p) {
  in_chunks(n, [&](Index i, Index count) { STRATA_DISPATCH(step_double)(step, count, g + i, m + i, v + i, p + i); });
}

void adam_update(const AdamStep& step, Index n, float* g, float* m, float* v, const float* p) {
  in_chunks(n, [&](Index i, Index count) { STRATA_DISPATCH(update_float)(step, count, g + i, m + i, v + i, p + i); });
}

void adam_update(const AdamStep& step, Index n, double* g, double* m, double* v, const double* p) {
  in_chunks(n, [&](Index i, Index count) { STRATA_DISPATCH(update_double)(step, count, g + i, m + i, v + i, p + i); });
}

}  // namespace strata::optim::internal
#endif
