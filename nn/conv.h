// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/nn/initializers.h"
#include "strata/state/rngs.h"
#include "strata/state/variable.h"
#include "strata/tensor/convolution.h"

namespace strata::nn {

struct ConvOptions {
  ConvWindow window = {};
  bool use_bias = true;
  Initializer kernel_init = initializers::lecun_normal();
  Initializer bias_init = initializers::zeros();
  std::optional<DType> dtype = {};  // to compute in; by default the promoted type of x and the parameters
  DType param_dtype = DType::float32;
  bool operator==(const ConvOptions&) const = default;
};

// A convolution, plus a bias: strata::conv of x and kernel.
//
// Paths and values agree with flax.nnx.Conv 0.12.
struct Conv {
  // One tap count for each spatial axis (1 to 3). Draws from the stream `params`, the kernel before the bias. Throws
  // ShapeError if a size is not positive, channels do not fall into the groups, or the window has numbers for other
  // axes; ValueError if a number of the window is out of range.
  Conv(Index in_features, Index out_features, const Shape& kernel_size, Rngs& rngs, const ConvOptions& options = {});

  // x is [*batch, *space, in_features], the result [*batch, *windows, out_features]. Integers in x count as numbers of
  // the parameters' type. Throws ShapeError if x does not fit.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  Param kernel;               // [*kernel_size, in_features / feature_groups, out_features]
  std::optional<Param> bias;  // [out_features]
  ConvWindow window;
  std::optional<DType> dtype;

  STRATA_FIELDS(kernel, bias, window, dtype)
};

}  // namespace strata::nn
