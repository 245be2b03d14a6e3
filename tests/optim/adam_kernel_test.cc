// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/internal/adam_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "strata/tensor/cpu.h"
#include "strata/tensor/internal/simd.h"
#include "strata/tensor/thread_pool.h"

namespace strata::optim::internal {
namespace {

class AdamKernel : public testing::TestWithParam<std::string_view> {
 protected:
  AdamKernel() { strata::internal::limit_instruction_set(GetParam()); }
  ~AdamKernel() override {
    strata::internal::limit_instruction_set(instruction_set_before_);
    set_num_threads(threads_before_);
  }

 private:
  std::string_view instruction_set_before_ = instruction_set();
  int threads_before_ = num_threads();
};

INSTANTIATE_TEST_SUITE_P(InstructionSets, AdamKernel, testing::ValuesIn(strata::internal::available_instruction_sets()),
                         [](const auto& level) { return std::string(level.param); });

constexpr AdamStep third_step = {.learning_rate = 0.01,
                                 .beta1 = 0.9,
                                 .beta2 = 0.99,
                                 .epsilon = 1e-8,
                                 .weight_decay = 0.1,
                                 .correction1 = 1 - 0.9 * 0.9 * 0.9,
                                 .correction2 = 1 - 0.99 * 0.99 * 0.99};

template <typename T>
struct Parameters {
  explicit Parameters(Index n) {
    for (Index i = 0; i < n; ++i) {
      const auto x = static_cast<T>(i);
      g.push_back(std::sin(x));
      m.push_back(std::cos(x) / 10);
      v.push_back((1 + std::sin(x / 3)) / 100);
      p.push_back(std::cos(2 * x));
    }
  }
  void run() { adam_step(third_step, static_cast<Index>(g.size()), g.data(), m.data(), v.data(), p.data()); }

  std::vector<T> g, m, v, p;
};

// The formulas of the header, in double.
template <typename T>
void expect_formula(Index n, double tolerance) {
  const Parameters<T> before(n);
  Parameters<T> after = before;
  after.run();
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const auto g = static_cast<double>(before.g[i]), p = static_cast<double>(before.p[i]);
    const double m = 0.9 * static_cast<double>(before.m[i]) + 0.1 * g;
    const double v = 0.99 * static_cast<double>(before.v[i]) + 0.01 * g * g;
    const double change = m / 0.271 / (std::sqrt(v / 0.029701) + 1e-8) + 0.1 * p;
    EXPECT_NEAR(static_cast<double>(after.m[i]), m, tolerance) << "element " << i << " of " << n;
    EXPECT_NEAR(static_cast<double>(after.v[i]), v, tolerance) << "element " << i << " of " << n;
    EXPECT_NEAR(static_cast<double>(after.p[i]), p - 0.01 * change, tolerance) << "element " << i << " of " << n;
  }
}

TEST_P(AdamKernel, FollowsTheFormula) {
  for (const Index n : {0, 1, 7, 16, 33}) {
    // Some units of the last place of numbers up to 1.
    expect_formula<float>(n, 2e-7);
    expect_formula<double>(n, 4e-16);
  }
}

TEST_P(AdamKernel, AnUpdateIsWhatAStepAdds) {
  AdamStep nesterov = third_step;
  nesterov.nesterov = true;
  nesterov.next_correction1 = 1 - 0.9 * 0.9 * 0.9 * 0.9;
  for (const AdamStep& step : {third_step, nesterov}) {
    Parameters<double> steps(17);
    Parameters<double> updates = steps;
    adam_step(step, 17, steps.g.data(), steps.m.data(), steps.v.data(), steps.p.data());
    adam_update(step, 17, updates.g.data(), updates.m.data(), updates.v.data(), updates.p.data());
    EXPECT_EQ(steps.m, updates.m);
    EXPECT_EQ(steps.v, updates.v);
    for (std::size_t i = 0; i < 17; ++i) EXPECT_NEAR(updates.p[i] + updates.g[i], steps.p[i], 1e-15) << i;
  }
}

TEST_P(AdamKernel, BitsDoNotDependOnTheNumberOfThreads) {
  Parameters<float> one(100003);
  Parameters<float> many = one;
  set_num_threads(1);
  one.run();
  set_num_threads(4);
  many.run();
  EXPECT_EQ(one.p, many.p);
  EXPECT_EQ(one.m, many.m);
  EXPECT_EQ(one.v, many.v);
}

}  // namespace
}  // namespace strata::optim::internal
