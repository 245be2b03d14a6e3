// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "strata/nn/mode.h"
#include "strata/nn/split.h"
#include "strata/nn/value_and_grad.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata::nn {
namespace {

using support::difference;
using support::within;
using support::within_ulps;

BatchNorm two_features(const BatchNormOptions& options = {.epsilon = 0}) {
  Rngs rngs(0);
  return BatchNorm(2, rngs, options);
}

// Feature 0 has mean 4 and variance 5, feature 1 mean 2 and variance 4.
const Tensor& batch() {
  static const Tensor x = tensor<float>({1, 0, 3, 0, 5, 4, 7, 4}, {4, 2});
  return x;
}

const Tensor& normalized() {
  static const float r = 1 / std::sqrt(5.0f);
  static const Tensor y = tensor<float>({-3 * r, -1, -r, -1, r, 1, 3 * r, 1}, {4, 2});
  return y;
}

TEST(BatchNorm, NormalizesWithTheStatisticsOfTheBatchInTrainingMode) {
  EXPECT_EQ(difference(two_features()(batch()), normalized(), within_ulps(2)), "");
}

TEST(BatchNorm, ScalesAndShiftsEachFeature) {
  BatchNorm layer = two_features();
  layer.scale->set_value(tensor<float>({0, 2}));
  layer.bias->set_value(tensor<float>({5, 10}));
  EXPECT_EQ(difference(layer(batch()), tensor<float>({5, 8, 5, 8, 5, 12, 5, 12}, {4, 2}), within(1e-6)), "");
}

TEST(BatchNorm, MomentumWeighsTheOldRunningValues) {
  BatchNorm layer = two_features({.momentum = 0.75});
  (void)layer(batch());
  EXPECT_TRUE(identical(layer.mean, tensor<float>({1, 0.5})));  // 0.75 * 0 + 0.25 * {4, 2}
  EXPECT_TRUE(identical(layer.var, tensor<float>({2, 1.75})));  // 0.75 * 1 + 0.25 * {5, 4}, the biased variance
}

TEST(BatchNorm, EvaluationModeUsesTheRunningValuesAndKeepsThem) {
  BatchNorm layer = two_features();
  layer.mean.set_value(tensor<float>({1, 2}));
  layer.var.set_value(tensor<float>({4, 16}));
  eval(layer);
  EXPECT_TRUE(identical(layer(tensor<float>({3, 6}, {1, 2})), tensor<float>({1, 1}, {1, 2})));
  EXPECT_TRUE(identical(layer.mean, tensor<float>({1, 2})));
  EXPECT_TRUE(identical(layer.var, tensor<float>({4, 16})));
}

TEST(BatchNorm, ArgumentOfTheCallBeatsTheSetting) {
  BatchNorm layer = two_features();
  EXPECT_TRUE(identical(layer(batch(), {.use_running_average = true}), batch()));
  EXPECT_TRUE(identical(layer.mean, zeros({2})));
}

TEST(BatchNorm, TakesFeaturesAlongAnyAxis) {
  BatchNorm layer = two_features({.axis = 1, .epsilon = 0});
  const Tensor y = layer(swap_axes(batch(), 0, 1).reshape({1, 2, 4}));
  EXPECT_EQ(difference(y, swap_axes(normalized(), 0, 1).reshape({1, 2, 4}), within_ulps(2)), "");
}

TEST(BatchNorm, AllAxesButThatOfTheFeaturesAreABatch) {
  EXPECT_EQ(difference(two_features()(batch().reshape({2, 2, 2})), normalized().reshape({2, 2, 2}), within_ulps(2)),
            "");
}

TEST(BatchNorm, AnExampleAloneIsItsOwnMean) {
  BatchNorm layer = two_features({.epsilon = 1});
  EXPECT_TRUE(identical(layer(tensor<float>({3, 5})), zeros({2})));
}

TEST(BatchNorm, MaskedElementsAreNormalizedButDoNotEnterTheStatistics) {
  BatchNorm layer = two_features({.momentum = 0, .epsilon = 0});
  const Tensor x = tensor<float>({1, 0, 3, 4, 100, 6}, {3, 2});
  const Tensor y = layer(x, {.mask = tensor<bool>({true, true, false}, {3, 1})});
  EXPECT_TRUE(identical(layer.mean, tensor<float>({2, 2})));
  EXPECT_TRUE(identical(layer.var, tensor<float>({1, 4})));
  EXPECT_TRUE(identical(y, tensor<float>({-1, -1, 1, 1, 98, 2}, {3, 2})));
}

TEST(BatchNorm, VarianceOfALargeOffsetIsAccurate) {
  BatchNorm layer = two_features({.momentum = 0});
  (void)layer(batch() + 65536);
  EXPECT_TRUE(identical(layer.var, tensor<float>({5, 4})));
}

TEST(BatchNorm, RunningValuesStayFloat32AndAreNotTracked) {
  BatchNorm layer = two_features({.momentum = 0});
  const auto [loss, grads] = value_and_grad([](BatchNorm& m) { return sum(square(m(batch().astype(DType::float64)))); },
                                            of_type<Param>)(layer);
  EXPECT_EQ(loss.dtype(), DType::float64);
  EXPECT_TRUE(identical(layer.mean, tensor<float>({4, 2})));
  EXPECT_EQ(grads.size(), 2);
}

TEST(BatchNorm, RunningValuesGetNoGradientInTrainingMode) {
  BatchNorm layer = two_features();
  const auto loss = [](BatchNorm& m) {
    const Tensor y = m(batch());
    return sum(y * batch()) + sum(m.mean.value());
  };
  const State grads = grad(loss, of_type<BatchStat>)(layer);
  EXPECT_TRUE(identical(grads.at({"mean"}), zeros({2})));
  EXPECT_TRUE(identical(grads.at({"var"}), zeros({2})));
}

TEST(BatchNorm, RunningValuesGetAGradientInEvaluationMode) {
  BatchNorm layer = two_features();
  eval(layer);
  const State grads = grad([](BatchNorm& m) { return sum(m(batch())); }, of_type<BatchStat>)(layer);
  EXPECT_TRUE(identical(grads.at({"mean"}), tensor<float>({-4, -4})));
  EXPECT_TRUE(identical(grads.at({"var"}), tensor<float>({-8, -4})));  // -1/2 sum(x - mean) / var^1.5
}

void expect_gradients(const BatchNormOptions& options, const BatchNormCall& call) {
  support::expect_gradients_match(
      [&](const Tensor& x, const Tensor& scale, const Tensor& bias) {
        BatchNorm layer = two_features(options);
        layer.scale->reset(scale);
        layer.bias->reset(bias);
        layer.mean.set_value(tensor<float>({1, 2}));
        return layer(x, call);
      },
      batch().astype(DType::float64).reshape({2, 2, 2}), tensor({1.5, -0.5}), tensor({0.25, 1.0}));
}

TEST(BatchNorm, GradientsMatchCentralDifferences) {
  expect_gradients({}, {});
  expect_gradients({.axis = 1}, {});
  expect_gradients({}, {.use_running_average = true});
  expect_gradients({}, {.mask = tensor<bool>({true, false, true, true}, {2, 2, 1})});
}

TEST(BatchNorm, WithoutScaleAndBiasItHasStatisticsAlone) {
  BatchNorm layer = two_features({.epsilon = 0, .use_bias = false, .use_scale = false});
  EXPECT_EQ(state(layer).size(), 2);
  EXPECT_EQ(difference(layer(batch()), normalized(), within_ulps(2)), "");
}

TEST(BatchNorm, DrawsOneKeyForEachParameter) {
  Rngs rngs(0);
  const BatchNorm layer(2, rngs);
  EXPECT_EQ(rngs.stream("params").count.value().item<int>(), 2);
}

TEST(BatchNorm, TwoByteFloatsAreNormalizedInFloat32) {
  BatchNorm layer = two_features({.momentum = 0, .epsilon = 0, .dtype = DType::float16});
  const Tensor y = layer(batch().astype(DType::float16) * 256);
  EXPECT_EQ(y.dtype(), DType::float16);
  EXPECT_EQ(difference(y.astype(DType::float32), normalized(), within(1e-3)), "");
  EXPECT_TRUE(identical(layer.var, tensor<float>({5 * 65536.0f, 4 * 65536.0f})));
}

TEST(BatchNorm, RefusesABatchWithoutElementsAndChangesNothing) {
  BatchNorm layer = two_features();
  EXPECT_THROW((void)layer(zeros({0, 2})), ShapeError);
  EXPECT_TRUE(identical(layer.mean, zeros({2})));
  EXPECT_EQ(layer(zeros({0, 2}), {.use_running_average = true}).shape(), (Shape{0, 2}));
}

TEST(BatchNorm, RefusesAMaskThatLeavesNothingOrIsNotBool) {
  BatchNorm layer = two_features();
  EXPECT_THROW((void)layer(batch(), {.mask = tensor<bool>({true, false})}), ValueError);
  EXPECT_THROW((void)layer(batch(), {.mask = ones({4, 1})}), DTypeError);
  EXPECT_THROW((void)layer(batch(), {.mask = tensor<bool>({true, true, true})}), ShapeError);
  EXPECT_TRUE(identical(layer.mean, zeros({2})));
}

TEST(BatchNorm, RefusesInputsOfAnotherWidth) {
  BatchNorm layer = two_features();
  EXPECT_THROW((void)layer(zeros({4, 3})), ShapeError);
  EXPECT_THROW((void)layer(scalar(1.0f)), ShapeError);
}

TEST(BatchNorm, RefusesOptionsOutOfRange) {
  EXPECT_THROW((void)two_features({.momentum = 1.5}), ValueError);
  EXPECT_THROW((void)two_features({.epsilon = -1}), ValueError);
  Rngs rngs(0);
  EXPECT_THROW(BatchNorm(0, rngs), ShapeError);
}

}  // namespace
}  // namespace strata::nn
