// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/losses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata::nn {
namespace {

using support::difference;
using support::expect_gradients_match;
using support::within;

constexpr LossOptions each{.reduction = Reduction::none};
constexpr double log_2 = 0.6931471805599453;

void expect_loss(const Tensor& loss, const Tensor& expected) {
  EXPECT_EQ(difference(loss, expected, within(1e-12)), "");
}

// Away from the corners of the piecewise losses of targets -1 and 1.
const Tensor& logits() {
  static const Tensor x = tensor({0.5, -1.25, 1.75, 0.125, 0.25, -0.75}, {2, 3});
  return x;
}

// Odds 1 : 3, so that the probabilities are 1/4 and 3/4.
const Tensor& one_to_three() {
  static const Tensor x = tensor({0.0, std::log(3.0), 0.0, std::log(3.0)}, {2, 2});
  return x;
}

TEST(SoftmaxCrossEntropy, IsTheMeanOfMinusTheLogarithmOfTheLabelsProbability) {
  const Tensor loss = softmax_cross_entropy(one_to_three(), tensor<std::int32_t>({0, 1}));
  EXPECT_EQ(loss.shape(), Shape{});
  expect_loss(loss, scalar((std::log(4.0) + std::log(4.0 / 3)) / 2));
}

TEST(SoftmaxCrossEntropy, GivesTheSumOrTheLossOfEachExample) {
  const Tensor labels = tensor<std::int32_t>({0, 1});
  expect_loss(softmax_cross_entropy(one_to_three(), labels, {.reduction = Reduction::sum}),
              scalar(std::log(4.0) + std::log(4.0 / 3)));
  expect_loss(softmax_cross_entropy(one_to_three(), labels, {.reduction = Reduction::none}),
              tensor({std::log(4.0), std::log(4.0 / 3)}));
}

TEST(SoftmaxCrossEntropy, FloatingLabelsAreProbabilities) {
  expect_loss(
      softmax_cross_entropy(one_to_three(), tensor({1.0, 0.0, 0.5, 0.5}, {2, 2}), {.reduction = Reduction::none}),
      tensor({std::log(4.0), (std::log(4.0) + std::log(4.0 / 3)) / 2}));
}

TEST(SoftmaxCrossEntropy, ClassesMayLieAlongAnotherAxis) {
  const Tensor x = tensor({0.0, 0.0, std::log(3.0), std::log(3.0)}, {2, 2});
  expect_loss(softmax_cross_entropy(x, tensor<std::int64_t>({0, 1}), {.axis = 0, .reduction = Reduction::none}),
              tensor({std::log(4.0), std::log(4.0 / 3)}));
}

TEST(SoftmaxCrossEntropy, DoesNotOverflow) {
  expect_loss(softmax_cross_entropy(tensor({1000.0, 0.0}), scalar<std::int32_t>(1)), scalar(1000.0));
}

TEST(SoftmaxCrossEntropy, GradientIsTheProbabilityMinusTheLabel) {
  GradientTape tape;
  const Tensor x = tape.watch(one_to_three());
  const Tensor loss = softmax_cross_entropy(x, tensor<std::int32_t>({0, 1}));
  expect_loss(tape.gradient(loss, {x})[0], tensor({-0.375, 0.375, 0.125, -0.125}, {2, 2}));
}

TEST(SoftmaxCrossEntropy, GradientsMatchCentralDifferences) {
  expect_gradients_match(
      [](const Tensor& x) {
        return softmax_cross_entropy(x, tensor<std::uint8_t>({2, 0}), {.reduction = Reduction::none});
      },
      logits());
  expect_gradients_match(
      [](const Tensor& x) {
        return softmax_cross_entropy(x, tensor<std::uint8_t>({1, 0, 1}), {.axis = 0, .reduction = Reduction::none});
      },
      logits());
  expect_gradients_match(
      [](const Tensor& x, const Tensor& labels) {
        return softmax_cross_entropy(x, labels, {.reduction = Reduction::none});
      },
      logits(), tensor({0.25, 0.5, 0.25, 1.0, 0.5, 0.0}, {2, 3}));
}

TEST(SoftmaxCrossEntropy, KeepsTheTypeOfTheLogits) {
  EXPECT_EQ(softmax_cross_entropy(zeros({2, 3}), tensor<std::int64_t>({0, 1})).dtype(), DType::float32);
  EXPECT_EQ(softmax_cross_entropy(zeros({2, 3}, DType::float16), tensor<std::int64_t>({0, 1})).dtype(), DType::float16);
}

TEST(SoftmaxCrossEntropy, TheMeanOfNoExamplesIsNaN) {
  EXPECT_TRUE(std::isnan(softmax_cross_entropy(zeros({0, 3}), zeros({0}, DType::int32)).item<float>()));
}

TEST(SoftmaxCrossEntropy, RefusesLabelsOutOfRange) {
  EXPECT_THROW((void)softmax_cross_entropy(logits(), tensor<std::int32_t>({0, 3})), ValueError);
  EXPECT_THROW((void)softmax_cross_entropy(logits(), tensor<std::int32_t>({-1, 0})), ValueError);
}

TEST(SoftmaxCrossEntropy, RefusesShapesThatDoNotFit) {
  EXPECT_THROW((void)softmax_cross_entropy(logits(), tensor<std::int32_t>({0, 1, 2})), ShapeError);
  EXPECT_THROW((void)softmax_cross_entropy(logits(), zeros({2, 3}, DType::int32)), ShapeError);
  EXPECT_THROW((void)softmax_cross_entropy(logits(), zeros({3})), ShapeError);
  EXPECT_THROW((void)softmax_cross_entropy(scalar(1.0), scalar<std::int32_t>(0)), ShapeError);
}

TEST(SoftmaxCrossEntropy, RefusesOtherTypes) {
  EXPECT_THROW((void)softmax_cross_entropy(zeros({2, 3}, DType::int32), tensor<std::int32_t>({0, 1})), DTypeError);
  EXPECT_THROW((void)softmax_cross_entropy(logits(), tensor<bool>({true, false})), DTypeError);
}

TEST(SigmoidBinaryCrossEntropy, IsMinusTheLogarithmOfTheLabelsProbability) {
  const Tensor x = tensor({std::log(3.0), std::log(3.0), 0.0});
  expect_loss(sigmoid_binary_cross_entropy(x, tensor<bool>({true, false, true}), each),
              tensor({std::log(4.0 / 3), std::log(4.0), log_2}));
}

TEST(SigmoidBinaryCrossEntropy, DoesNotOverflowAndKeepsSmallLosses) {
  const Tensor loss = sigmoid_binary_cross_entropy(tensor({-800.0, 30.0}), tensor({1.0, 1.0}), each);
  EXPECT_EQ(loss.at<double>({0}), 800);
  EXPECT_NEAR(loss.at<double>({1}), 9.357622968839299e-14, 1e-26);  // log1p(exp(-30)), math
}

TEST(SigmoidBinaryCrossEntropy, GradientsMatchCentralDifferences) {
  expect_gradients_match([](const Tensor& x, const Tensor& y) { return sigmoid_binary_cross_entropy(x, y, each); },
                         logits(), tensor({0.25, 0.5, 0.25, 1.0, 0.5, 0.0}, {2, 3}));
}

TEST(SigmoidFocalLoss, CountsWhatIsClassifiedWellLess) {
  const Tensor x = tensor({std::log(3.0), std::log(3.0)});
  const Tensor labels = tensor({1.0, 0.0});
  expect_loss(sigmoid_focal_loss(x, labels, {.reduction = Reduction::none}),
              tensor({std::log(4.0 / 3) / 16, std::log(4.0) * 9 / 16}));
  expect_loss(sigmoid_focal_loss(x, labels, {.alpha = 0.25, .gamma = 0, .reduction = Reduction::none}),
              tensor({std::log(4.0 / 3) / 4, std::log(4.0) * 3 / 4}));
}

TEST(SigmoidFocalLoss, GradientsMatchCentralDifferences) {
  expect_gradients_match(
      [](const Tensor& x) {
        return sigmoid_focal_loss(x, tensor<std::int32_t>({1, 0, 1, 0, 1, 0}, {2, 3}),
                                  {.alpha = 0.25, .reduction = Reduction::none});
      },
      logits());
}

TEST(SquaredError, IsTheSquareOfTheDifference) {
  const Tensor predictions = tensor({1.0, 4.0});
  const Tensor targets = tensor({3.0, 3.0});
  expect_loss(squared_error(predictions, targets, each), tensor({4.0, 1.0}));
  expect_loss(squared_error(predictions, targets), scalar(2.5));
  expect_loss(l2_loss(predictions, targets, each), tensor({2.0, 0.5}));
}

TEST(HuberLoss, TurnsFromAParabolaIntoALine) {
  expect_loss(huber_loss(tensor({0.5, -1.0, 3.0}), zeros({3}), {.reduction = Reduction::none}),
              tensor({0.125, 0.5, 2.5}));
  expect_loss(huber_loss(tensor({3.0}), zeros({1}), {.delta = 2}), scalar(4.0));
}

TEST(HuberLoss, RefusesADeltaThatIsNotPositive) {
  EXPECT_THROW((void)huber_loss(zeros({1}), zeros({1}), {.delta = 0}), ValueError);
}

TEST(LogCosh, DoesNotOverflow) {
  expect_loss(log_cosh(tensor({0.0, 1000.0, -1.0}), zeros({3}), each),
              tensor({0.0, 1000.0 - log_2, 0.4337808304830271}));  // numpy
}

TEST(HingeLoss, IsZeroBeyondTheMargin) {
  expect_loss(hinge_loss(tensor({2.0, 0.5, 0.5}), tensor<std::int32_t>({1, 1, -1}), each), tensor({0.0, 0.5, 1.5}));
}

TEST(CosineSimilarity, IsTheCosineOfTheAngle) {
  expect_loss(cosine_similarity(tensor({3.0, 4.0, 1.0, 0.0}, {2, 2}), tensor({6.0, 8.0, 0.0, 5.0}, {2, 2})),
              tensor({1.0, 0.0}));
}

TEST(CosineSimilarity, OfAVectorOfZerosIsNaNUnlessEpsilonIsPositive) {
  EXPECT_TRUE(std::isnan(cosine_similarity(tensor({0.0, 0.0}), tensor({1.0, 0.0})).item<double>()));
  expect_loss(cosine_similarity(tensor({0.0, 0.0}), tensor({1.0, 0.0}), {.epsilon = 1e-6}), scalar(0.0));
}

TEST(Losses, GradientsMatchCentralDifferences) {
  const Tensor targets = tensor({1.0, -1.0, 1.0, 1.0, -1.0, -1.0}, {2, 3});
  using Loss = Tensor (*)(const Tensor&, const Tensor&);
  for (const Loss loss : std::initializer_list<Loss>{
           [](const Tensor&p, const Tensor&t) { return squared_error(p, t, each); },
           [](const Tensor&p, const Tensor&t) { return l2_loss(p, t, each); },
           [](const Tensor&p, const Tensor&t) { return huber_loss(p, t, {.reduction = Reduction::none}); },
           [](const Tensor&p, const Tensor&t) { return log_cosh(p, t, each); },
           [](const Tensor&p, const Tensor&t) { return hinge_loss(p, t, each); },
           [](const Tensor&p, const Tensor&t) { return cosine_similarity(p, t); }}) {
    expect_gradients_match(loss, logits(), targets);
  }
}

TEST(Losses, NeverBroadcast) {
  EXPECT_THROW((void)squared_error(zeros({3}), zeros({3, 1})), ShapeError);
  EXPECT_THROW((void)sigmoid_binary_cross_entropy(zeros({3}), zeros({1})), ShapeError);
}

TEST(Losses, IntegerTargetsCountAsNumbersOfThePredictionsType) {
  const Tensor loss = squared_error(zeros({2}), tensor<std::int64_t>({1, 3}), each);
  EXPECT_TRUE(identical(loss, tensor<float>({1, 9})));
}

TEST(Losses, RefusePredictionsThatAreNotFloating) {
  EXPECT_THROW((void)l2_loss(zeros({2}, DType::int32), zeros({2})), DTypeError);
}

}  // namespace
}  // namespace strata::nn
