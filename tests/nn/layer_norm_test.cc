// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "strata/nn/split.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata::nn {
namespace {

using support::difference;
using support::within;
using support::within_ulps;

LayerNorm four_features(const LayerNormOptions& options = {.epsilon = 0}) {
  Rngs rngs(0);
  return LayerNorm(4, rngs, options);
}

// Row 0 has mean 4 and variance 5, row 1 mean 2 and variance 4.
const Tensor& rows() {
  static const Tensor x = tensor<float>({1, 3, 5, 7, 0, 0, 4, 4}, {2, 4});
  return x;
}

const Tensor& normalized() {
  static const float r = 1 / std::sqrt(5.0f);
  static const Tensor y = tensor<float>({-3 * r, -r, r, 3 * r, -1, -1, 1, 1}, {2, 4});
  return y;
}

TEST(LayerNorm, NormalizesEachExample) {
  EXPECT_EQ(difference(four_features()(rows()), normalized(), within_ulps(2)), "");
}

TEST(LayerNorm, ScalesAndShiftsEachFeature) {
  LayerNorm layer = four_features();
  layer.scale->set_value(tensor<float>({0, 1, 2, 0}));
  layer.bias->set_value(tensor<float>({1, 2, 3, 4}));
  EXPECT_EQ(difference(layer(rows()[1]), tensor<float>({1, 1, 5, 4}), within(1e-6)), "");
}

TEST(LayerNorm, ReducesOverTheNamedAxes) {
  const LayerNorm layer = four_features({.epsilon = 0, .reduction_axes = {-1, 0}});
  const Tensor x = tensor<float>({1, 1, 1, 1, 3, 3, 3, 3}, {2, 4});
  EXPECT_TRUE(identical(layer(x), tensor<float>({-1, -1, -1, -1, 1, 1, 1, 1}, {2, 4})));
}

TEST(LayerNorm, FeaturesMayLieAlongOtherAxes) {
  LayerNorm layer = four_features({.epsilon = 0, .reduction_axes = {1}, .feature_axes = {0}});
  layer.bias->set_value(tensor<float>({10, 20, 30, 40}));
  EXPECT_TRUE(identical(layer(tensor<float>({0, 2, 0, 2, 0, 2, 0, 2}, {4, 2})),
                        tensor<float>({9, 11, 19, 21, 29, 31, 39, 41}, {4, 2})));
}

TEST(LayerNorm, FeaturesMayFillSeveralAxes) {
  LayerNorm layer = four_features({.epsilon = 0, .feature_axes = {-2, -1}});
  layer.bias->set_value(tensor<float>({10, 20, 30, 40}));
  EXPECT_TRUE(identical(layer(tensor<float>({0, 2, 0, 2}, {2, 2})), tensor<float>({9, 21, 29, 41}, {2, 2})));
}

TEST(LayerNorm, MaskedElementsAreNormalizedButDoNotEnterTheStatistics) {
  const Tensor y = four_features()(tensor<float>({1, 3, 10, 3}), {.mask = tensor<bool>({true, true, false, false})});
  EXPECT_TRUE(identical(y, tensor<float>({-1, 1, 8, 1})));
}

TEST(LayerNorm, AMaskThatLeavesNothingGivesNaN) {
  const Tensor y = four_features()(rows(), {.mask = tensor<bool>({true, false}, {2, 1})});
  EXPECT_FALSE(std::isnan(y.at<float>({0, 0})));
  EXPECT_TRUE(std::isnan(y.at<float>({1, 0})));
}

void expect_gradients(const LayerNormOptions& options, const LayerNormCall& call) {
  support::expect_gradients_match(
      [&](const Tensor& x, const Tensor& scale, const Tensor& bias) {
        LayerNorm layer = four_features(options);
        layer.scale->reset(scale);
        layer.bias->reset(bias);
        return layer(x, call);
      },
      tensor({1.0, 3.0, -5.0, 7.0, 0.5, 0.25, 4.0, -4.0}, {2, 4}), tensor({1.5, -0.5, 2.0, 1.0}),
      tensor({0.25, 1.0, -1.0, 0.5}));
}

TEST(LayerNorm, GradientsMatchCentralDifferences) {
  expect_gradients({}, {});
  expect_gradients({.reduction_axes = {0, 1}}, {});
  expect_gradients({.reduction_axes = {0}}, {});
  expect_gradients({}, {.mask = tensor<bool>({true, true, false, true})});
}

TEST(LayerNorm, WithoutScaleAndBiasItHasNoLeaves) {
  const LayerNorm layer = four_features({.epsilon = 0, .use_bias = false, .use_scale = false});
  EXPECT_TRUE(state(layer).empty());
  EXPECT_EQ(difference(layer(rows()), normalized(), within_ulps(2)), "");
}

TEST(LayerNorm, IntegersGiveFloat32) {
  EXPECT_EQ(four_features()(rows().astype(DType::int32)).dtype(), DType::float32);
}

TEST(LayerNorm, TakesNoExamples) { EXPECT_EQ(four_features()(zeros({0, 4})).shape(), (Shape{0, 4})); }

TEST(LayerNorm, RefusesInputsOfAnotherWidth) {
  EXPECT_THROW((void)four_features()(zeros({4, 3})), ShapeError);
  EXPECT_THROW((void)four_features()(scalar(1.0f)), ShapeError);
  EXPECT_THROW((void)four_features({.reduction_axes = {2}})(rows()), ShapeError);
}

TEST(LayerNorm, RefusesOptionsOutOfRange) {
  EXPECT_THROW((void)four_features({.epsilon = -1}), ValueError);
  EXPECT_THROW((void)four_features({.reduction_axes = {}}), ValueError);
  EXPECT_THROW((void)four_features({.feature_axes = {}}), ValueError);
}

}  // namespace
}  // namespace strata::nn
