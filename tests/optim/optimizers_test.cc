// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/optimizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "support/compare.h"

namespace strata::optim {
namespace {

using support::difference;
using support::exactly;
using support::within;
using testing::ThrowsMessage;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// The parameter after each of three steps, from 1, with the gradients 0.5, -1 and 0.25. Expected values were worked out
// in float64 from the formulas in optimizers.h, independently of this code; tests/golden/nnx compares with optax.
std::vector<double> trajectory(const Transformation& transformation, DType dtype = DType::float64) {
  std::vector<Tensor> params{full({3}, 1.0, dtype)};
  Memory memory = transformation.rule().init(params);
  std::vector<double> values;
  for (const double gradient : {0.5, -1.0, 0.25}) {
    transformation.rule().step(params, {full({3}, gradient, dtype)}, memory);
    values.push_back(params[0].at<double>({2}));
  }
  return values;
}

void expect_trajectory(const Transformation& transformation, const std::vector<double>& expected) {
  const std::vector<double> in_double = trajectory(transformation);
  const std::vector<double> in_float = trajectory(transformation, DType::float32);
  for (std::size_t step = 0; step < 3; ++step) {
    EXPECT_NEAR(in_double[step], expected[step], 1e-11) << "float64, step " << step;
    EXPECT_NEAR(in_float[step], expected[step], 1e-6) << "float32, step " << step;
  }
}

TEST(Sgd, Plain) { expect_trajectory(sgd(0.1), {0.95, 1.05, 1.025}); }
TEST(Sgd, WithMomentum) { expect_trajectory(sgd(0.1, {.momentum = 0.9}), {0.95, 1.005, 1.0295}); }
TEST(Sgd, WithNesterovMomentum) {
  expect_trajectory(sgd(0.1, {.momentum = 0.9, .nesterov = true}), {0.905, 1.0545, 1.05155});
}

TEST(Adam, FollowsTheFormula) { expect_trajectory(adam(0.1), {0.900000002, 0.936610354241, 0.950279420339}); }
TEST(Adam, WithNesterovMomentum) {
  expect_trajectory(adam(0.1, {.nesterov = true}), {0.852631581895, 0.942296855866, 0.938043174165});
}
TEST(AdamW, ShrinksTheParameter) { expect_trajectory(adamw(0.1), {0.899990002, 0.936591354341, 0.950251054525}); }

TEST(RmsProp, FollowsTheFormula) { expect_trajectory(rmsprop(0.1), {0.683772297229, 0.969486571281, 0.896241732511}); }
TEST(RmsProp, WithEpsilonOutsideTheRoot) {
  expect_trajectory(rmsprop(0.1, {.eps_in_sqrt = false}), {0.683772253983, 0.969486531534, 0.896241691766});
}
TEST(RmsProp, Centered) {
  expect_trajectory(rmsprop(0.1, {.centered = true}), {0.666666740741, 0.955975419702, 0.882541156739});
}
TEST(RmsProp, WithMomentumOfTheScaledUpdate) {
  expect_trajectory(rmsprop(0.1, {.momentum = 0.9}), {0.683772297229, 0.684881638787, 0.612635207419});
  expect_trajectory(rmsprop(0.1, {.momentum = 0.9, .nesterov = true}),
                    {0.399167364735, 0.685880046189, 0.547613419189});
}
TEST(RmsProp, WithBiasCorrection) {
  expect_trajectory(rmsprop(0.1, {.bias_correction = true}), {0.900000002, 1.02453997085, 0.986410420274});
}

TEST(Adagrad, FollowsTheFormula) { expect_trajectory(adagrad(0.1), {0.915484586601, 1.001550879996, 0.980515722645}); }

TEST(Adagrad, IsZeroWhereNothingWasSeen) {
  const Transformation transformation = adagrad(0.1, {.initial_accumulator_value = 0, .eps = 0});
  std::vector<Tensor> params{ones({2})};
  Memory memory = transformation.rule().init(params);
  transformation.rule().step(params, {tensor({0.0F, 2.0F})}, memory);
  EXPECT_EQ(difference(params[0], tensor({1.0F, 0.9F}), within(1e-7)), "");
}

TEST(Lion, FollowsTheFormula) { expect_trajectory(lion(0.1), {0.8999, 0.99981001, 0.899710028999}); }

TEST(Optimizers, TakeASchedule) {
  const Schedule halves = [](Index step) { return step == 0 ? 0.1 : 0.05; };
  expect_trajectory(sgd(halves), {0.95, 1, 0.9875});
}

TEST(Optimizers, NameAnOptionThatIsOutOfRange) {
  EXPECT_THAT([] { (void)adam(0.1, {.b1 = 1}); },
              ThrowsMessage<ValueError>("[adam] b1 is 1. Give a number from 0 to below 1."));
  EXPECT_THAT([] { (void)adamw(nan); },
              ThrowsMessage<ValueError>("[adamw] learning_rate is nan. Give a finite number, 0 or above."));
}

TEST(Optimizers, RefuseNesterovWithoutMomentum) {
  EXPECT_THAT([] { (void)sgd(0.1, {.nesterov = true}); },
              ThrowsMessage<ValueError>("[sgd] nesterov is a form of momentum, and there is none. Give `momentum`, or "
                                        "leave `nesterov` out."));
  EXPECT_THROW((void)rmsprop(0.1, {.nesterov = true}), ValueError);
}

TEST(Optimizers, RefuseLearningRatesThatAreNegativeOrNotFinite) {
  for (const double rate : {-0.1, nan, infinity}) {
    EXPECT_THROW((void)sgd(rate), ValueError);
    EXPECT_THROW((void)adam(rate), ValueError);
    EXPECT_THROW((void)adamw(rate), ValueError);
    EXPECT_THROW((void)rmsprop(rate), ValueError);
    EXPECT_THROW((void)adagrad(rate), ValueError);
    EXPECT_THROW((void)lion(rate), ValueError);
  }
  EXPECT_NO_THROW((void)sgd(0));
}

TEST(Optimizers, RefuseDecaysOutOfRange) {
  for (const double decay : {-0.1, 1.1, nan}) {
    EXPECT_THROW((void)sgd(0.1, {.momentum = decay}), ValueError);
    EXPECT_THROW((void)adam(0.1, {.b1 = decay}), ValueError);
    EXPECT_THROW((void)adam(0.1, {.b2 = decay}), ValueError);
    EXPECT_THROW((void)adamw(0.1, {.b1 = decay}), ValueError);
    EXPECT_THROW((void)adamw(0.1, {.b2 = decay}), ValueError);
    EXPECT_THROW((void)rmsprop(0.1, {.decay = decay}), ValueError);
    EXPECT_THROW((void)rmsprop(0.1, {.momentum = decay}), ValueError);
    EXPECT_THROW((void)lion(0.1, {.b1 = decay}), ValueError);
    EXPECT_THROW((void)lion(0.1, {.b2 = decay}), ValueError);
  }
  // Where 1 - decay^n is divided by.
  EXPECT_THROW((void)adam(0.1, {.b2 = 1}), ValueError);
  EXPECT_THROW((void)rmsprop(0.1, {.decay = 1, .bias_correction = true}), ValueError);
  EXPECT_NO_THROW((void)rmsprop(0.1, {.decay = 1}));
}

TEST(Optimizers, RefuseAnEpsThatDividesByZero) {
  EXPECT_THROW((void)adam(0.1, {.eps = 0}), ValueError);
  EXPECT_THROW((void)adam(0.1, {.eps = -1e-8}), ValueError);
  EXPECT_THROW((void)adamw(0.1, {.eps_root = -1e-8}), ValueError);
  EXPECT_THROW((void)rmsprop(0.1, {.eps = 0}), ValueError);
  EXPECT_THROW((void)adagrad(0.1, {.eps = -1}), ValueError);
  EXPECT_NO_THROW((void)adam(0.1, {.eps = 0, .eps_root = 1e-8}));
}

TEST(Optimizers, RefuseNegativeWeightDecayAndAccumulators) {
  for (const double value : {-0.1, nan, infinity}) {
    EXPECT_THROW((void)adamw(0.1, {.weight_decay = value}), ValueError);
    EXPECT_THROW((void)lion(0.1, {.weight_decay = value}), ValueError);
    EXPECT_THROW((void)rmsprop(0.1, {.initial_scale = value}), ValueError);
    EXPECT_THROW((void)adagrad(0.1, {.initial_accumulator_value = value}), ValueError);
  }
}

TEST(Optimizers, UpdateTwoByteParametersInFloat32AndRoundOnce) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    std::vector<Tensor> params{full({2}, 1.0, dtype)};
    const Transformation transformation = sgd(0.25, {.momentum = 0.5});
    Memory memory = transformation.rule().init(params);
    transformation.rule().step(params, {full({2}, 0.5, dtype)}, memory);
    transformation.rule().step(params, {full({2}, 0.5, dtype)}, memory);
    EXPECT_EQ(params[0].dtype(), dtype);
    EXPECT_EQ(memory.slots[0].values[0].dtype(), dtype);
    EXPECT_EQ(difference(params[0], full({2}, 0.6875F), exactly), "");  // 1 - (0.5 + 0.75) / 4, no rounding
  }
}

TEST(Optimizers, TakeEmptyAndScalarParameters) {
  std::vector<Tensor> params{zeros({0, 3}), scalar(1.0F)};
  const Transformation transformation = adam(0.1);
  Memory memory = transformation.rule().init(params);
  transformation.rule().step(params, {zeros({0, 3}), scalar(0.5F)}, memory);
  EXPECT_EQ(params[0].shape(), (Shape{0, 3}));
  EXPECT_NEAR(params[1].item<float>(), 0.9F, 1e-6);
}

TEST(Optimizers, StepAndUpdateAgree) {
  for (const Transformation& transformation :
       {sgd(0.1, {.momentum = 0.9}), adam(0.1), adamw(0.1), rmsprop(0.1), adagrad(0.1), lion(0.1)}) {
    const Tensor gradient = tensor({0.5, -1.0, 0.25});
    std::vector<Tensor> params{tensor({1.0, 2.0, 3.0})};
    std::vector<Tensor> updates{gradient};
    Memory memory = transformation.rule().init(params);
    Memory again = transformation.rule().init(params);
    transformation.rule().update(updates, memory, params);
    std::vector<Tensor> stepped = params;
    transformation.rule().step(stepped, {gradient}, again);
    for (const Index i : {0, 1, 2}) {
      EXPECT_NEAR(stepped[0].at<double>({i}), params[0].at<double>({i}) + updates[0].at<double>({i}), 1e-15);
    }
  }
}

}  // namespace
}  // namespace strata::optim
