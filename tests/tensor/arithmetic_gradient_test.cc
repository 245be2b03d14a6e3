// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <span>
#include <vector>

#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/reduce.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata {
namespace {

using support::difference;
using support::exactly;
using support::expect_gradients_match;

constexpr double infinity = std::numeric_limits<double>::infinity();

const Tensor matrix = tensor({0.7, -1.3, 2.1, -0.4, 1.6, -2.2}, {2, 3});
const Tensor other = tensor({1.1, 0.6, -1.7, 2.3, -0.9, 0.8}, {2, 3});
const Tensor row = tensor({0.9, -1.2, 1.4});
const Tensor column = tensor({1.5, -0.8}, {2, 1});
const Tensor positive = tensor({0.7, 1.3, 2.1, 0.4, 1.6, 2.2}, {2, 3});

// The gradient of sum(f(x)).
template <class F>
Tensor gradient_at(const Tensor& x, F f) {
  GradientTape tape;
  const Tensor watched = tape.watch(x);
  return tape.gradient(sum(f(watched)), {watched})[0];
}

TEST(GradientCheck, SeesAWrongGradient) {
  const auto wrong = [](std::span<const Tensor> x) {
    return differentiable(square(stop_gradient(x[0])), {x[0]},
                          [x = x[0]](const Tensor& dy) { return std::vector<Cotangent>{dy * x * 2.001}; });
  };
  EXPECT_NE(support::gradient_difference(wrong, std::array{matrix}), "");
}

TEST(ArithmeticGradient, OfBinaryOperations) {
  for (const Tensor& right : {other, row, column}) {
    expect_gradients_match([](const Tensor& a, const Tensor& b) { return a + b; }, matrix, right);
    expect_gradients_match([](const Tensor& a, const Tensor& b) { return a - b; }, matrix, right);
    expect_gradients_match([](const Tensor& a, const Tensor& b) { return b - a; }, matrix, right);
    expect_gradients_match([](const Tensor& a, const Tensor& b) { return a * b; }, matrix, right);
    expect_gradients_match([](const Tensor& a, const Tensor& b) { return a / b; }, matrix, right);
    expect_gradients_match([](const Tensor& a, const Tensor& b) { return b / a; }, matrix, right);
    expect_gradients_match([](const Tensor& a, const Tensor& b) { return maximum(a, b); }, matrix, right);
    expect_gradients_match([](const Tensor& a, const Tensor& b) { return minimum(a, b); }, matrix, right);
    expect_gradients_match([](const Tensor& a, const Tensor& b) { return power(a, b); }, positive, right);
  }
  expect_gradients_match([](const Tensor& a, const Tensor& b) { return a * b; }, row, column);
}

TEST(ArithmeticGradient, OfOperationsWithNumbers) {
  expect_gradients_match([](const Tensor& x) { return 3 + x * 2.5 - 1; }, matrix);
  expect_gradients_match([](const Tensor& x) { return (1 - x) / 4 + 2 / x; }, matrix);
  expect_gradients_match([](const Tensor& x) { return maximum(x, 0.5) + minimum(1.5, x); }, matrix);
  expect_gradients_match([](const Tensor& x) { return power(x, 2) + power(x, 3) + power(x, -1); }, matrix);
  expect_gradients_match([](const Tensor& x) { return power(x, 0.5) + power(x, 1.7) + power(3, x); }, positive);
  expect_gradients_match([](const Tensor& x) { return clip(x, -1, 1.8); }, matrix);
}

TEST(ArithmeticGradient, OfUnaryFunctions) {
  expect_gradients_match([](const Tensor& x) { return -x + abs(x) + square(x); }, matrix);
  expect_gradients_match([](const Tensor& x) { return sqrt(x) + rsqrt(x); }, positive);
  expect_gradients_match([](const Tensor& x) { return exp(x) + expm1(x); }, matrix);
  expect_gradients_match([](const Tensor& x) { return log(x) + log1p(x); }, positive);
  expect_gradients_match([](const Tensor& x) { return sin(x) * cos(x) + erf(x); }, matrix);
}

TEST(ArithmeticGradient, OfOneTensorOnBothSides) {
  expect_gradients_match([](const Tensor& x) { return x * x + x / x + x; }, matrix);
}

TEST(ArithmeticGradient, OfTensorsOfNoElements) {
  EXPECT_EQ(gradient_at(zeros({0, 3}), [](const Tensor& x) { return x * ones({3}); }).shape(), (Shape{0, 3}));
  EXPECT_TRUE(identical(gradient_at(ones({3}), [](const Tensor& x) { return x * zeros({0, 3}); }), zeros({3})));
}

TEST(ArithmeticGradient, HasTheElementTypeOfItsSource) {
  GradientTape tape;
  const Tensor half = tape.watch(tensor({2.0F}).astype(DType::float16));
  const Tensor wide = tape.watch(tensor({3.0}));
  const auto gradients = tape.gradient(sum(half * wide), {half, wide});
  EXPECT_EQ(gradients[0].dtype(), DType::float16);
  EXPECT_EQ(gradients[0].item<float>(), 3.0F);
  EXPECT_TRUE(identical(gradients[1], tensor({2.0})));
}

// As jax.grad gives it.
TEST(ArithmeticGradient, AtSpecialPoints) {
  const Tensor zero = tensor({0.0});
  EXPECT_EQ(gradient_at(zero, [](const Tensor& x) { return sqrt(x); }).item<double>(), infinity);
  EXPECT_EQ(gradient_at(zero, [](const Tensor& x) { return abs(x); }).item<double>(), 0.0);
  EXPECT_EQ(gradient_at(zero, [](const Tensor& x) { return sign(x) + x; }).item<double>(), 1.0);
  EXPECT_EQ(gradient_at(zero, [](const Tensor& x) { return power(x, 2); }).item<double>(), 0.0);
  EXPECT_EQ(gradient_at(zero, [](const Tensor& x) { return power(x, 1); }).item<double>(), 1.0);
  EXPECT_EQ(gradient_at(zero, [](const Tensor& x) { return power(x, 0); }).item<double>(), 0.0);
  EXPECT_EQ(gradient_at(zero, [](const Tensor& x) { return power(x, tensor({0.0})); }).item<double>(), 0.0);
  EXPECT_EQ(gradient_at(tensor({2.0}), [](const Tensor& x) { return power(tensor({0.0}), x); }).item<double>(), 0.0);
  EXPECT_EQ(gradient_at(zero, [](const Tensor& x) { return maximum(x, 0); }).item<double>(), 0.5);
  EXPECT_EQ(gradient_at(zero, [](const Tensor& x) { return relu(x); }).item<double>(), 0.0);
}

TEST(ArithmeticGradient, OfClipIsPassedOnAtTheLimits) {
  const Tensor x = tensor({-1.0, 0.0, 0.5, 1.0, 2.0});
  EXPECT_TRUE(
      identical(gradient_at(x, [](const Tensor& t) { return clip(t, 0, 1); }), tensor({0.0, 1.0, 1.0, 1.0, 0.0})));
}

TEST(ArithmeticGradient, NothingIsTrackedWhereNothingIsWatched) {
  GradientTape tape;
  const Tensor watched = tape.watch(matrix);
  EXPECT_FALSE((matrix * other + exp(matrix)).is_tracked());
  EXPECT_TRUE((watched * other).is_tracked());
}

}  // namespace
}  // namespace strata
