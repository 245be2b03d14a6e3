// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/nn/initializers.h"
#include "strata/state/rngs.h"
#include "strata/state/variable.h"

namespace strata::nn {

struct LinearOptions {
  bool use_bias = true;
  Initializer kernel_init = initializers::lecun_normal();
  Initializer bias_init = initializers::zeros();
  std::optional<DType> dtype = {};  // to compute in; by default the promoted type of x and the parameters
  DType param_dtype = DType::float32;
};

// y = x kernel + bias. Integers in x count as numbers of the parameters' type.
//
// Paths and values agree with flax.nnx.Linear 0.12.
struct Linear {
  // Draws from the stream `params`, the kernel before the bias. Throws ShapeError if a size is not positive.
  Linear(Index in_features, Index out_features, Rngs& rngs, const LinearOptions& options = {});

  // x is [*batch, in_features], the result [*batch, out_features]. Throws ShapeError if the last axis does not fit.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  Param kernel;               // [in_features, out_features]
  std::optional<Param> bias;  // [out_features]
  std::optional<DType> dtype;

  STRATA_FIELDS(kernel, bias, dtype)
};

}  // namespace strata::nn
