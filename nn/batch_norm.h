// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/nn/initializers.h"
#include "strata/state/rngs.h"
#include "strata/state/variable.h"

namespace strata::nn {

struct BatchNormOptions {
  bool use_running_average = false;
  int axis = -1;           // of the features
  double momentum = 0.99;  // weight of the old running value
  double epsilon = 1e-5;
  bool use_bias = true;
  bool use_scale = true;
  Initializer bias_init = initializers::zeros();
  Initializer scale_init = initializers::ones();
  std::optional<DType> dtype = {};  // of the result; by default the promoted type of x, parameters and statistics
  DType param_dtype = DType::float32;
};

struct BatchNormCall {
  std::optional<bool> use_running_average = {};  // instead of the layer's own setting
  std::optional<Tensor> mask = {};               // bool, broadcasts to x: which elements enter the statistics
};

// y = (x - mean) / sqrt(var + epsilon) * scale + bias, for each feature.
//
// In training mode mean and var are those of the batch, over all axes but that of the features, and the running values
// move towards them: new = momentum old + (1 - momentum) batch. The variance is the biased one in both places. In
// evaluation mode, the running values are used and stay as they are. Gradients flow through the batch's statistics,
// never through the running values' change.
//
// Source: Ioffe and Szegedy, "Batch normalization" (2015). Paths and values agree with flax.nnx.BatchNorm 0.12; the
// variance is always that of the centred elements (Flax: use_fast_variance=False), and is computed in float32 or wider.
struct BatchNorm {
  // Draws from the stream `params`, the scale before the bias. Throws ShapeError if num_features is not positive,
  // ValueError if momentum is not in [0, 1] or epsilon is negative.
  BatchNorm(Index num_features, Rngs& rngs, const BatchNormOptions& options = {});

  // x has num_features along `axis`; any number of other axes. Throws ShapeError if it does not, or if there are no
  // elements to take statistics of; DTypeError if the mask is not bool; ValueError if it leaves a feature without
  // elements.
  [[nodiscard]] Tensor operator()(const Tensor& x, const BatchNormCall& call = {});

  BatchStat mean;              // [num_features], float32, 0 at first
  BatchStat var;               // [num_features], float32, 1 at first
  std::optional<Param> scale;  // [num_features]
  std::optional<Param> bias;   // [num_features]
  double momentum;
  double epsilon;
  int axis;
  std::optional<DType> dtype;
  bool use_running_average;

  STRATA_FIELDS(mean, var, scale, bias, momentum, epsilon, axis, dtype, use_running_average)
};

}  // namespace strata::nn
