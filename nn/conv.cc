// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/conv.h"

#include <fmt/format.h>

#include "strata/nn/internal/layer.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/error.h"
#include "strata/tensor/internal/conv_geometry.h"

namespace strata::nn {
namespace {

Shape kernel_shape(Index in_features, Index out_features, const Shape& kernel_size, const ConvWindow& window) {
  internal::check_positive(in_features, "in_features", "Conv");
  internal::check_positive(out_features, "out_features", "Conv");
  if (kernel_size.rank() < 1 || kernel_size.rank() > 3) {
    throw ShapeError(fmt::format("[Conv] kernel_size is {}; give a number for each of 1 to 3 spatial axes.",
                                 to_string(kernel_size)));
  }
  for (const Index taps : kernel_size) internal::check_positive(taps, "a number of kernel_size", "Conv");
  strata::internal::check_window(window, kernel_size.rank());
  const Index groups = window.feature_groups;
  if (in_features % groups != 0 || out_features % groups != 0) {
    throw ShapeError(fmt::format("[Conv] {} inputs and {} outputs do not fall into {} groups of equal size.",
                                 in_features, out_features, groups));
  }
  return kernel_size.append({in_features / groups, out_features});
}

}  // namespace

Conv::Conv(Index in_features, Index out_features, const Shape& kernel_size, Rngs& rngs, const ConvOptions& options)
    : kernel(internal::make_param(options.kernel_init, rngs,
                                  kernel_shape(in_features, out_features, kernel_size, options.window),
                                  options.param_dtype)),
      bias(internal::make_param_if(options.use_bias, options.bias_init, rngs, {out_features}, options.param_dtype)),
      window(options.window),
      dtype(options.dtype) {}

Tensor Conv::operator()(const Tensor& x) const {
  const DType computing = internal::layer_dtype(dtype, {&x, &kernel.value(), internal::value_of(bias)}, "Conv");
  Tensor y = conv(x.astype(computing), kernel.value().astype(computing), window);
  if (bias) y += bias->value().astype(computing);
  return y;
}

}  // namespace strata::nn
