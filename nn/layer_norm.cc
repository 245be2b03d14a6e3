// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/layer_norm.h"

#include <fmt/format.h>

#include "strata/nn/internal/layer.h"
#include "strata/nn/internal/normalize.h"
#include "strata/tensor/error.h"
#include "strata/tensor/internal/axes.h"

namespace strata::nn {
namespace {

Shape feature_shape(Index num_features) {
  internal::check_positive(num_features, "num_features", "LayerNorm");
  return {num_features};
}

// The shape of the parameters beside x: its sizes along the feature axes, 1 elsewhere.
Shape shape_beside(const Tensor& x, std::span<const int> feature_axes, Index num_features) {
  strata::internal::List<Index> sizes(static_cast<std::size_t>(x.rank()), 1);
  for (const int axis : strata::internal::normalize_axes(feature_axes, x.shape(), "LayerNorm")) {
    sizes[static_cast<std::size_t>(axis)] = x.size(axis);
  }
  Shape shape{std::span<const Index>(sizes)};
  if (shape.num_elements() != num_features) {
    throw ShapeError(fmt::format("[LayerNorm] x is {}; it takes {} features along the axes [{}].", describe(x),
                                 num_features, fmt::join(feature_axes, ", ")));
  }
  return shape;
}

}  // namespace

LayerNorm::LayerNorm(Index features, Rngs& rngs, const LayerNormOptions& options)
    : scale(internal::make_param_if(options.use_scale, options.scale_init, rngs, feature_shape(features),
                                    options.param_dtype)),
      bias(internal::make_param_if(options.use_bias, options.bias_init, rngs, feature_shape(features),
                                   options.param_dtype)),
      num_features(features),
      epsilon(options.epsilon),
      reduction_axes(options.reduction_axes),
      feature_axes(options.feature_axes),
      dtype(options.dtype) {
  if (!(epsilon >= 0)) {
    throw ValueError(fmt::format("[LayerNorm] epsilon is {}. Give a number that is not negative.", epsilon));
  }
  if (reduction_axes.empty() || feature_axes.empty()) {
    throw ValueError("[LayerNorm] the reduction or the feature axes are empty. Name at least one axis of each.");
  }
}

Tensor LayerNorm::operator()(const Tensor& x, const LayerNormCall& call) const {
  const Shape beside = shape_beside(x, feature_axes, num_features);
  if (call.mask && call.mask->dtype() != DType::boolean) {
    throw DTypeError(
        fmt::format("[LayerNorm] the mask is {}; it takes bool. Convert with astype.", describe(*call.mask)));
  }
  const DType result =
      internal::layer_dtype(dtype, {&x, internal::value_of(scale), internal::value_of(bias)}, "LayerNorm");
  const DType computing = promote(result, DType::float32);
  const auto wide = [&](const Tensor& operand) { return operand.astype(result).astype(computing); };
  const Tensor wide_scale = scale ? wide(*scale).reshape(beside) : Tensor();
  const Tensor wide_bias = bias ? wide(*bias).reshape(beside) : Tensor();
  return internal::normalize(wide(x), {.axes = strata::internal::normalize_axes(reduction_axes, x.shape(), "LayerNorm"),
                                       .mask = call.mask,
                                       .scale = scale ? &wide_scale : nullptr,
                                       .bias = bias ? &wide_bias : nullptr,
                                       .epsilon = epsilon})
      .y.astype(result);
}

}  // namespace strata::nn
