// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "strata/nn/initializers.h"
#include "strata/state/rngs.h"
#include "strata/state/variable.h"

namespace strata::nn {

struct LayerNormOptions {
  double epsilon = 1e-6;
  bool use_bias = true;
  bool use_scale = true;
  Initializer bias_init = initializers::zeros();
  Initializer scale_init = initializers::ones();
  std::vector<int> reduction_axes{-1};  // that statistics are taken over
  std::vector<int> feature_axes{-1};    // of scale and bias
  std::optional<DType> dtype = {};      // of the result; by default the promoted type of x and the parameters
  DType param_dtype = DType::float32;
};

struct LayerNormCall {
  std::optional<Tensor> mask = {};  // bool, broadcasts to x: which elements enter the statistics
};

// y = (x - mean) / sqrt(var + epsilon) * scale + bias, where mean and the biased variance are those of each example:
// over the reduction axes, by default the last one.
//
// Source: Ba, Kiros and Hinton, "Layer normalization" (2016). Paths and values agree with flax.nnx.LayerNorm 0.12; the
// variance is always that of the centred elements (Flax: use_fast_variance=False), and is computed in float32 or wider.
struct LayerNorm {
  // Draws from the stream `params`, the scale before the bias. Throws ShapeError if num_features is not positive,
  // ValueError if epsilon is negative or there are no axes.
  LayerNorm(Index num_features, Rngs& rngs, const LayerNormOptions& options = {});

  // The sizes of x along the feature axes have the product num_features. Where a mask leaves no elements, the result is
  // NaN. Throws ShapeError if x or the mask does not fit, DTypeError if the mask is not bool.
  [[nodiscard]] Tensor operator()(const Tensor& x, const LayerNormCall& call = {}) const;

  std::optional<Param> scale;  // [num_features]
  std::optional<Param> bias;   // [num_features]
  Index num_features;
  double epsilon;
  std::vector<int> reduction_axes;
  std::vector<int> feature_axes;
  std::optional<DType> dtype;

  STRATA_FIELDS(scale, bias, num_features, epsilon, reduction_axes, feature_axes, dtype)
};

}  // namespace strata::nn
