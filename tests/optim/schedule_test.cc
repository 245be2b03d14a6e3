// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "strata/tensor/error.h"

namespace strata::optim {
namespace {

// Expected values are those of optax 0.2.8 in float32.
constexpr double rounding = 1e-5;

void expect_values(const Schedule& schedule, const std::vector<double>& expected) {
  for (std::size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(schedule(static_cast<Index>(step)), expected[step], rounding) << "step " << step;
  }
}

TEST(Schedule, AConstantIsTheSameAtEveryStep) {
  const Schedule schedule = 0.5;
  EXPECT_TRUE(schedule.is_constant());
  EXPECT_EQ(schedule(0), 0.5);
  EXPECT_EQ(schedule(1000), 0.5);
}

TEST(Schedule, IntegersAreConstantsToo) { EXPECT_EQ(Schedule(2)(7), 2.0); }

TEST(Schedule, MayBeAnyFunctionOfTheStep) {
  const Schedule schedule = [](Index step) { return 1.0 / static_cast<double>(step + 1); };
  EXPECT_FALSE(schedule.is_constant());
  EXPECT_EQ(schedule(3), 0.25);
}

TEST(LinearSchedule, GoesInEqualStepsAndStays) {
  expect_values(linear_schedule(1, 0.2, 4), {1, 0.8, 0.6, 0.4, 0.2, 0.2});
}

TEST(ExponentialDecaySchedule, FallsAtEveryStep) {
  expect_values(exponential_decay(1, 2, 0.25), {1, 0.5, 0.25, 0.125, 0.0625});
}

TEST(ExponentialDecaySchedule, FallsInAStaircaseToABound) {
  expect_values(exponential_decay(1, 3, 0.5, {.staircase = true, .end_value = 0.2}),
                {1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2});
}

TEST(ExponentialDecaySchedule, GrowsToABound) {
  expect_values(exponential_decay(1, 1, 2, {.end_value = 5}), {1, 2, 4, 5, 5});
}

TEST(CosineDecay, FallsToItsShareAndStays) {
  expect_values(cosine_decay(2, 4, 0.1), {2, 1.7364, 1.1, 0.4636, 0.2, 0.2});
}

TEST(WarmupCosineDecay, RisesThenFalls) {
  expect_values(warmup_cosine_decay(0, 1, 3, 9, 0.1),
                {0, 0.333333, 0.666667, 1, 0.939711, 0.775, 0.55, 0.325, 0.160289, 0.1, 0.1});
}

TEST(PiecewiseConstant, TakesTheFactorsWhoseStepHasCome) {
  expect_values(piecewise_constant(1, {{2, 0.5}, {4, 0.1}}), {1, 1, 0.5, 0.5, 0.05, 0.05});
}

TEST(PiecewiseConstant, WithoutFactorsIsConstant) { expect_values(piecewise_constant(3, {}), {3, 3}); }

TEST(Schedules, RefuseNumbersOfStepsThatAreNotPositive) {
  EXPECT_THROW((void)linear_schedule(0, 1, 0), ValueError);
  EXPECT_THROW((void)exponential_decay(1, -1, 0.5), ValueError);
  EXPECT_THROW((void)cosine_decay(1, 0), ValueError);
  EXPECT_THROW((void)warmup_cosine_decay(0, 1, 0, 9), ValueError);
  EXPECT_THROW((void)warmup_cosine_decay(0, 1, 9, 9), ValueError);
}

TEST(Schedule, RefusesEmptyFunctions) {
  EXPECT_THROW(Schedule(std::function<double(Index)>()), ValueError);
  EXPECT_THROW(Schedule(std::function<float(int)>()), ValueError);
  EXPECT_THROW(Schedule(static_cast<double (*)(Index)>(nullptr)), ValueError);
}

TEST(Schedules, RefuseNumbersThatAreNotFinite) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW((void)linear_schedule(bad, 0, 1), ValueError);
    EXPECT_THROW((void)linear_schedule(0, bad, 1), ValueError);
    EXPECT_THROW((void)exponential_decay(bad, 1, 0.5), ValueError);
    EXPECT_THROW((void)exponential_decay(1, 1, bad), ValueError);
    EXPECT_THROW((void)exponential_decay(1, 1, 0.5, {.end_value = bad}), ValueError);
    EXPECT_THROW((void)cosine_decay(bad, 1), ValueError);
    EXPECT_THROW((void)cosine_decay(1, 1, bad), ValueError);
    EXPECT_THROW((void)warmup_cosine_decay(bad, 1, 1, 2), ValueError);
    EXPECT_THROW((void)warmup_cosine_decay(0, bad, 1, 2), ValueError);
    EXPECT_THROW((void)warmup_cosine_decay(0, 1, 1, 2, bad), ValueError);
    EXPECT_THROW((void)piecewise_constant(bad, {}), ValueError);
    EXPECT_THROW((void)piecewise_constant(1, {{1, bad}}), ValueError);
  }
}

TEST(Schedules, RefuseStepsAndFactorsOutOfRange) {
  EXPECT_THROW((void)exponential_decay(1, 1, 0), ValueError);
  EXPECT_THROW((void)exponential_decay(1, 1, -0.5), ValueError);
  EXPECT_THROW((void)piecewise_constant(1, {{-1, 0.5}}), ValueError);
  EXPECT_THROW((void)piecewise_constant(1, {{1, -0.5}}), ValueError);
  EXPECT_THROW((void)warmup_cosine_decay(0, 1, 1, std::numeric_limits<Index>::min()), ValueError);
}

}  // namespace
}  // namespace strata::optim
