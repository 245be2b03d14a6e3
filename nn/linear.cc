// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/linear.h"

#include "strata/nn/internal/layer.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/linear_algebra.h"

namespace strata::nn {
namespace {

Shape kernel_shape(Index in_features, Index out_features) {
  internal::check_positive(in_features, "in_features", "Linear");
  internal::check_positive(out_features, "out_features", "Linear");
  return {in_features, out_features};
}

}  // namespace

Linear::Linear(Index in_features, Index out_features, Rngs& rngs, const LinearOptions& options)
    : kernel(internal::make_param(options.kernel_init, rngs, kernel_shape(in_features, out_features),
                                  options.param_dtype)),
      bias(internal::make_param_if(options.use_bias, options.bias_init, rngs, {out_features}, options.param_dtype)),
      dtype(options.dtype) {}

Tensor Linear::operator()(const Tensor& x) const {
  internal::check_features(x, kernel.value().size(0), "Linear");
  const DType computing = internal::layer_dtype(dtype, {&x, &kernel.value(), internal::value_of(bias)}, "Linear");
  Tensor y = matmul(x.astype(computing), kernel.value().astype(computing));
  if (bias) y += bias->value().astype(computing);
  return y;
}

}  // namespace strata::nn
