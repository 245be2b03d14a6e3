// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/activation.h"

#include <gtest/gtest.h>

#include <limits>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "support/compare.h"
#include "support/gradient_check.h"

// Expected values are NumPy 2.4's, by the formulas of the docstrings.
namespace strata {
namespace {

using support::difference;
using support::exactly;
using support::expect_gradients_match;
using support::within_scaled;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr auto a_few_ulps = within_scaled(1e-15);  // of float64

const Tensor numbers = tensor({-1.5, -0.25, 0.0, 0.5, 2.0});
const Tensor logits = tensor({1.0, 2.0, 3.0, 4.0, 5.0, 7.0}, {2, 3});

TEST(Activation, SigmoidTanhAndRelu) {
  EXPECT_EQ(difference(sigmoid(numbers),
                       tensor({0.18242552380635635, 0.43782349911420193, 0.5, 0.6224593312018546, 0.8807970779778823}),
                       a_few_ulps),
            "");
  EXPECT_EQ(
      difference(tanh(numbers),
                 tensor({-0.9051482536448665, -0.24491866240370913, 0.0, 0.46211715726000974, 0.9640275800758169}),
                 a_few_ulps),
      "");
  EXPECT_TRUE(identical(relu(numbers), tensor({0.0, 0.0, 0.0, 0.5, 2.0})));
}

TEST(Activation, ElementTypes) {
  EXPECT_TRUE(identical(relu(tensor({-1, 2})), tensor({0, 2})));
  EXPECT_EQ(sigmoid(tensor({0})).dtype(), DType::float64);
  EXPECT_EQ(tanh(tensor({0.5F}).astype(DType::bfloat16)).dtype(), DType::bfloat16);
}

TEST(Activation, AtTheEndsOfTheRange) {
  const Tensor ends = tensor({-infinity, infinity, nan});
  EXPECT_EQ(difference(tanh(ends), tensor({-1.0, 1.0, nan}), exactly), "");
  EXPECT_EQ(difference(relu(ends), tensor({0.0, infinity, nan}), exactly), "");
  EXPECT_EQ(difference(sigmoid(ends), tensor({0.0, 1.0, nan}), exactly), "");
}

TEST(Softmax, AlongEitherAxis) {
  EXPECT_EQ(difference(softmax(logits),
                       tensor({0.09003057317038046, 0.24472847105479767, 0.6652409557748219, 0.04201006613406605,
                               0.11419519938459448, 0.8437947344813395},
                              {2, 3}),
                       a_few_ulps),
            "");
  EXPECT_EQ(difference(log_softmax(logits, 0),
                       tensor({-3.048587351573742, -3.048587351573742, -4.0181499279178094, -0.048587351573742055,
                               -0.048587351573742055, -0.01814992791780945},
                              {2, 3}),
                       a_few_ulps),
            "");
}

TEST(Softmax, DoesNotOverflow) {
  EXPECT_EQ(difference(softmax(tensor({1000.0F, 1000.0F})), tensor({0.5, 0.5}), exactly), "");
  EXPECT_EQ(difference(softmax(tensor({0.0, -infinity})), tensor({1.0, 0.0}), exactly), "");
  EXPECT_EQ(difference(log_softmax(tensor({0.0, -1000.0})), tensor({0.0, -1000.0}), exactly), "");
}

TEST(Softmax, OfNoElements) {
  EXPECT_EQ(softmax(zeros({2, 0})).shape(), (Shape{2, 0}));
  EXPECT_EQ(log_softmax(zeros({0, 3}), 0).shape(), (Shape{0, 3}));
  EXPECT_THROW(static_cast<void>(softmax(scalar(1.0F))), ShapeError);
  EXPECT_THROW(static_cast<void>(log_softmax(logits, 2)), ShapeError);
}

TEST(Softmax, KeepsTwoByteFloats) {
  const Tensor y = softmax(tensor({0.0F, 0.0F}).astype(DType::float16));
  EXPECT_TRUE(identical(y, tensor({0.5F, 0.5F}).astype(DType::float16)));
}

TEST(LogSumExp, OverAxes) {
  EXPECT_EQ(difference(logsumexp(logits, -1), tensor({3.40760596444438, 7.169846019556285}), a_few_ulps), "");
  EXPECT_EQ(logsumexp(logits, -1, {.keep_dims = true}).shape(), (Shape{2, 1}));
  EXPECT_EQ(logsumexp(logits).shape(), Shape{});
}

TEST(LogSumExp, AtTheEndsOfTheRange) {
  EXPECT_EQ(logsumexp(tensor({-infinity, -infinity})).item<double>(), -infinity);
  EXPECT_EQ(logsumexp(tensor({infinity, 0.0})).item<double>(), infinity);
  EXPECT_EQ(logsumexp(tensor({1000.0, -infinity})).item<double>(), 1000.0);
  EXPECT_EQ(difference(logsumexp(zeros({2, 0}), 1), tensor({-infinity, -infinity}), exactly), "");
}

TEST(ActivationGradient, OfElementwiseFunctions) {
  const Tensor x = tensor({-1.5, -0.25, 0.5, 2.0});
  expect_gradients_match([](const Tensor& t) { return sigmoid(t); }, x);
  expect_gradients_match([](const Tensor& t) { return tanh(t); }, x);
  expect_gradients_match([](const Tensor& t) { return relu(t); }, x);
}

TEST(ActivationGradient, OfNormalisations) {
  const Tensor x = tensor({0.7, -1.3, 2.1, -0.4, 1.6, -2.2}, {2, 3});
  for (const int axis : {0, 1}) {
    expect_gradients_match([axis](const Tensor& t) { return softmax(t, axis); }, x);
    expect_gradients_match([axis](const Tensor& t) { return log_softmax(t, axis); }, x);
    expect_gradients_match([axis](const Tensor& t) { return logsumexp(t, axis); }, x);
  }
  expect_gradients_match([](const Tensor& t) { return logsumexp(t); }, x);
}

}  // namespace
}  // namespace strata
