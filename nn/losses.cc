// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/losses.h"

#include <fmt/format.h>

#include <numbers>
#include <utility>
#include <vector>

#include "strata/nn/internal/reduction.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/reduce.h"

namespace strata::nn {
namespace {

using internal::reduced;

// Throws unless predictions are floating and targets have their shape. Returns the targets as floating numbers.
Tensor check_targets(const Tensor& predictions, const Tensor& targets, const char* operation) {
  if (!is_floating(predictions.dtype())) {
    throw DTypeError(fmt::format("[{}] predictions are {}; they must be floating. Convert with astype.", operation,
                                 describe(predictions)));
  }
  if (predictions.shape() != targets.shape()) {
    throw ShapeError(fmt::format("[{}] predictions are {}, targets {}; their shapes must be equal.", operation,
                                 describe(predictions), describe(targets)));
  }
  return is_floating(targets.dtype()) ? targets : targets.astype(predictions.dtype());
}

// f(e) of the error e = predictions - targets, where f has the derivative `slope`.
template <class F, class Slope>
Tensor error_loss(const Tensor& predictions, const Tensor& targets, F f, Slope slope) {
  const Tensor error = stop_gradient(predictions) - stop_gradient(targets);
  const DType to_predictions = predictions.dtype();
  const DType to_targets = targets.dtype();
  return differentiable(f(error), {predictions, targets}, [error, slope, to_predictions, to_targets](const Tensor& dy) {
    const Tensor gradient = dy * slope(error);
    return std::vector<Cotangent>{gradient.astype(to_predictions), (-gradient).astype(to_targets)};
  });
}

}  // namespace

Tensor sigmoid_binary_cross_entropy(const Tensor& logits, const Tensor& labels, LossOptions options) {
  const Tensor y = check_targets(logits, labels, "sigmoid_binary_cross_entropy");
  const Tensor x = stop_gradient(logits);
  const Tensor plain_y = stop_gradient(y);
  // No differences of large numbers: log(1 + exp(-|x|)) is what both terms exceed their straight lines by.
  Tensor losses = log1p(exp(-abs(x))) + plain_y * maximum(-x, 0) + (1 - plain_y) * maximum(x, 0);
  losses = differentiable(std::move(losses), {logits, y}, [x, plain_y](const Tensor& dy) {
    return std::vector<Cotangent>{(dy * (sigmoid(x) - plain_y)).astype(x.dtype()), (dy * -x).astype(plain_y.dtype())};
  });
  return reduced(std::move(losses), options.reduction);
}

Tensor sigmoid_focal_loss(const Tensor& logits, const Tensor& labels, const FocalLossOptions& options) {
  const Tensor y = check_targets(logits, labels, "sigmoid_focal_loss");
  const Tensor p = sigmoid(logits);
  const Tensor doubt = p * (1 - y) + (1 - p) * y;
  Tensor losses = sigmoid_binary_cross_entropy(logits, y, {.reduction = Reduction::none}) * power(doubt, options.gamma);
  if (options.alpha) losses = losses * (*options.alpha * y + (1 - *options.alpha) * (1 - y));
  return reduced(std::move(losses), options.reduction);
}

Tensor squared_error(const Tensor& predictions, const Tensor& targets, LossOptions options) {
  const Tensor floating = check_targets(predictions, targets, "squared_error");
  return reduced(
      error_loss(
          predictions, floating, [](const Tensor& e) { return e * e; }, [](const Tensor& e) { return e * 2; }),
      options.reduction);
}

Tensor l2_loss(const Tensor& predictions, const Tensor& targets, LossOptions options) {
  const Tensor floating = check_targets(predictions, targets, "l2_loss");
  return reduced(
      error_loss(
          predictions, floating, [](const Tensor& e) { return e * e * 0.5; }, [](const Tensor& e) { return e; }),
      options.reduction);
}

Tensor huber_loss(const Tensor& predictions, const Tensor& targets, HuberOptions options) {
  const double delta = options.delta;
  if (!(delta > 0)) throw ValueError(fmt::format("[huber_loss] delta is {}. Give a positive number.", delta));
  const Tensor floating = check_targets(predictions, targets, "huber_loss");
  const auto loss = [delta](const Tensor& e) {
    const Tensor size = abs(e);
    const Tensor within = minimum(size, delta);
    return within * within * 0.5 + (size - within) * delta;
  };
  const auto slope = [delta](const Tensor& e) { return clip(e, -delta, delta); };
  return reduced(error_loss(predictions, floating, loss, slope), options.reduction);
}

Tensor log_cosh(const Tensor& predictions, const Tensor& targets, LossOptions options) {
  const Tensor floating = check_targets(predictions, targets, "log_cosh");
  const auto loss = [](const Tensor& e) {
    const Tensor size = abs(e);
    return size + (log1p(exp(size * -2)) - std::numbers::ln2);
  };
  return reduced(error_loss(predictions, floating, loss, [](const Tensor& e) { return tanh(e); }), options.reduction);
}

Tensor hinge_loss(const Tensor& predictions, const Tensor& targets, LossOptions options) {
  const Tensor floating = check_targets(predictions, targets, "hinge_loss");
  return reduced(relu(1 - predictions * floating), options.reduction);
}

Tensor cosine_similarity(const Tensor& predictions, const Tensor& targets, CosineOptions options) {
  const Tensor floating = check_targets(predictions, targets, "cosine_similarity");
  const int axis = predictions.shape().normalize_axis(options.axis, "cosine_similarity");
  const auto length = [&](const Tensor& x) {
    // A length that is replaced must not be differentiated: the slope of the root at 0 is infinite.
    const Tensor squares = sum(square(x), axis, {.keep_dims = true});
    const Tensor is_long = squares > options.epsilon * options.epsilon;
    return where(is_long, sqrt(where(is_long, squares, 1)), options.epsilon);
  };
  return sum(predictions / length(predictions) * (floating / length(floating)), axis);
}

}  // namespace strata::nn
