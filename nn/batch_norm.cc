// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/batch_norm.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "strata/nn/internal/layer.h"
#include "strata/nn/internal/normalize.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"

namespace strata::nn {
namespace {

Shape feature_shape(Index num_features) {
  internal::check_positive(num_features, "num_features", "BatchNorm");
  return {num_features};
}

// x as [outer, features, inner], without the last axis if it has size 1.
struct View {
  Shape x;
  Shape features;                    // broadcasts to x
  strata::internal::List<int> axes;  // all but that of the features
};

View view_of(const Shape& shape, int axis) {
  const int position = shape.normalize_axis(axis);
  const Index features = shape[position];
  const Index outer = shape.axes(0, position).num_elements();
  const Index inner = shape.axes(position + 1, shape.rank()).num_elements();
  if (inner == 1) return {{outer, features}, {1, features}, {0}};
  return {{outer, features, inner}, {1, features, 1}, {0, 2}};
}

void check_input(const Tensor& x, int axis, Index num_features) {
  if (axis >= -x.rank() && axis < x.rank() && x.size(axis) == num_features) return;
  throw ShapeError(
      fmt::format("[BatchNorm] x is {}; it takes {} features along axis {}.", describe(x), num_features, axis));
}

// The mask in the view of x. Throws unless it leaves every feature at least one element.
std::optional<Tensor> check_mask(const std::optional<Tensor>& mask, const Tensor& x, const View& view) {
  if (x.size() == 0) {
    throw ShapeError(
        fmt::format("[BatchNorm] there are no elements to take statistics of: x is {}. Use evaluation "
                    "mode.",
                    describe(x)));
  }
  if (!mask) return std::nullopt;
  if (mask->dtype() != DType::boolean) {
    throw DTypeError(fmt::format("[BatchNorm] the mask is {}; it takes bool. Convert with astype.", describe(*mask)));
  }
  Tensor in_view = broadcast_to(*mask, x.shape()).reshape(view.x);
  if (!all(any(in_view, view.axes)).item<bool>()) {
    throw ValueError("[BatchNorm] the mask leaves a feature without elements to take statistics of.");
  }
  return in_view;
}

}  // namespace

BatchNorm::BatchNorm(Index num_features, Rngs& rngs, const BatchNormOptions& options)
    : mean(zeros(feature_shape(num_features))),
      var(ones({num_features})),
      scale(internal::make_param_if(options.use_scale, options.scale_init, rngs, {num_features}, options.param_dtype)),
      bias(internal::make_param_if(options.use_bias, options.bias_init, rngs, {num_features}, options.param_dtype)),
      momentum(options.momentum),
      epsilon(options.epsilon),
      axis(options.axis),
      dtype(options.dtype),
      use_running_average(options.use_running_average) {
  if (!(momentum >= 0 && momentum <= 1)) {
    throw ValueError(fmt::format("[BatchNorm] momentum is {}. Give a number in [0, 1].", momentum));
  }
  if (!(epsilon >= 0)) {
    throw ValueError(fmt::format("[BatchNorm] epsilon is {}. Give a number that is not negative.", epsilon));
  }
}

Tensor BatchNorm::operator()(const Tensor& x, const BatchNormCall& call) {
  check_input(x, axis, mean.value().size(0));
  const View view = view_of(x.shape(), axis);
  const DType result = internal::layer_dtype(
      dtype, {&x, &mean.value(), &var.value(), internal::value_of(scale), internal::value_of(bias)}, "BatchNorm");
  const DType computing = promote(result, DType::float32);
  const auto wide = [&](const Tensor& operand) { return operand.astype(result).astype(computing); };
  const auto in_view = [&](const Tensor& operand) { return wide(operand).reshape(view.features); };
  const Tensor wide_x = wide(x).reshape(view.x);
  const Tensor wide_scale = scale ? in_view(*scale) : Tensor();
  const Tensor wide_bias = bias ? in_view(*bias) : Tensor();

  if (call.use_running_average.value_or(use_running_average)) {
    Tensor factor = rsqrt(var.value().astype(computing).reshape(view.features) + epsilon);
    if (scale) factor *= wide_scale;
    Tensor y = wide_x - mean.value().astype(computing).reshape(view.features);
    y *= factor;
    if (bias) y += wide_bias;
    return y.reshape(x.shape()).astype(result);
  }

  internal::Normalized normalized = internal::normalize(wide_x, {.axes = view.axes,
                                                                 .mask = check_mask(call.mask, x, view),
                                                                 .scale = scale ? &wide_scale : nullptr,
                                                                 .bias = bias ? &wide_bias : nullptr,
                                                                 .epsilon = epsilon});
  const auto moved = [&](const Tensor& running, const Tensor& batch) {
    const Tensor sum = stop_gradient(running) * momentum + batch.reshape(running.shape()) * (1 - momentum);
    return sum.astype(running.dtype());
  };
  Tensor new_mean = moved(mean, normalized.mean);
  Tensor new_var = moved(var, normalized.variance);
  mean.set_value(std::move(new_mean));
  var.set_value(std::move(new_var));
  return normalized.y.reshape(x.shape()).astype(result);
}

}  // namespace strata::nn
