// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/tensor/tensor.h"

// Losses, differentiable with respect to all floating arguments. They return the mean over all examples, ready for
// value_and_grad; optax's values, one for each example, come with `{.reduction = nn::Reduction::none}`.
//
// Predictions are floating (DTypeError otherwise), and shapes must be equal where nothing else is said (ShapeError
// otherwise): losses never broadcast. Integer and bool targets count as numbers of the predictions' type. The mean of
// no examples is NaN. Values and gradients are those of optax 0.2.
namespace strata::nn {

// What becomes of the losses of the examples: their mean, their sum, or all of them as they are.
enum class Reduction { mean, sum, none };

struct LossOptions {
  Reduction reduction = Reduction::mean;
};

struct SoftmaxLossOptions {
  int axis = -1;  // of the classes
  Reduction reduction = Reduction::mean;
};

// -log(softmax(logits)[label]) for labels that are integers, numbers of classes: logits are [*batch, classes], labels
// [*batch]. Or -sum(labels log(softmax(logits))) for labels that are floating, a probability for each class, of the
// shape of logits. One loss for each example of [*batch].
// Throws ValueError if a label is not the number of a class, DTypeError if labels are bool.
[[nodiscard]] Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels,
                                           const SoftmaxLossOptions& options = {});

// -labels log(sigmoid(logits)) - (1 - labels) log(1 - sigmoid(logits)), without overflow; one for each element. Labels
// are probabilities or truth values.
[[nodiscard]] Tensor sigmoid_binary_cross_entropy(const Tensor& logits, const Tensor& labels, LossOptions options = {});

struct FocalLossOptions {
  std::optional<double> alpha = {};  // weight of label 1, and 1 - alpha of label 0; by default, both have weight 1
  double gamma = 2;                  // how much less examples count that are classified well
  Reduction reduction = Reduction::mean;
};

// The sigmoid cross-entropy times (1 - p)^gamma, where p is the probability given to the label; one for each element.
// Lin et al., "Focal loss for dense object detection" (2017).
[[nodiscard]] Tensor sigmoid_focal_loss(const Tensor& logits, const Tensor& labels,
                                        const FocalLossOptions& options = {});

// (predictions - targets)^2, and half of that; one for each element.
[[nodiscard]] Tensor squared_error(const Tensor& predictions, const Tensor& targets, LossOptions options = {});
[[nodiscard]] Tensor l2_loss(const Tensor& predictions, const Tensor& targets, LossOptions options = {});

struct HuberOptions {
  double delta = 1;  // where the loss turns from a parabola into a line; positive
  Reduction reduction = Reduction::mean;
};

// e^2 / 2 where |e| <= delta, delta (|e| - delta / 2) elsewhere, for e = predictions - targets; one for each element.
// Throws ValueError if delta is not positive.
[[nodiscard]] Tensor huber_loss(const Tensor& predictions, const Tensor& targets, HuberOptions options = {});

// log(cosh(predictions - targets)), without overflow; one for each element.
[[nodiscard]] Tensor log_cosh(const Tensor& predictions, const Tensor& targets, LossOptions options = {});

// max(0, 1 - predictions targets) for targets -1 and 1; one for each element.
[[nodiscard]] Tensor hinge_loss(const Tensor& predictions, const Tensor& targets, LossOptions options = {});

struct CosineOptions {
  int axis = -1;
  double epsilon = 0;  // the least length that vectors are divided by
};

// The cosine of the angle between vectors along an axis, [*batch]: no loss itself, the larger the more alike. NaN for a
// vector of zeros, unless epsilon is positive.
[[nodiscard]] Tensor cosine_similarity(const Tensor& predictions, const Tensor& targets, CosineOptions options = {});

}  // namespace strata::nn
