// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/tensor/internal/recycler.h"
#include "strata/tensor/tensor.h"

namespace strata::nn::internal {

struct NormalizeOptions {
  strata::internal::List<int> axes;  // that statistics are taken over; not empty, not negative, none twice
  std::optional<Tensor> mask = {};   // bool, broadcasts to x: which elements enter the statistics; by default all
  const Tensor* scale = nullptr;     // of the rank of x, broadcasts to x
  const Tensor* bias = nullptr;      // the same
  double epsilon = 0;
};

struct Normalized {
  Tensor y;
  Tensor mean;      // the axes have size 1; not tracked
  Tensor variance;  // the same; the mean of the squared distance to the mean
};

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias for x of float32 or float64, and scale and bias of the same
// type. One operation with its own backward: gradients flow through the statistics too. Statistics of no elements are
// NaN.
[[nodiscard]] Normalized normalize(const Tensor& x, const NormalizeOptions& options);

}  // namespace strata::nn::internal
