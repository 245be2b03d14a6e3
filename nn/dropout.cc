// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/dropout.h"

#include <fmt/format.h>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/axes.h"

namespace strata::nn {
namespace {

// The shape of x with size 1 along the axes.
Shape mask_shape(const Tensor& x, const std::vector<int>& axes) {
  Shape shape = x.shape();
  for (const int axis : strata::internal::normalize_axes(axes, shape, "Dropout")) {
    shape = strata::internal::with_size(shape, axis, 1);
  }
  return shape;
}

}  // namespace

Dropout::Dropout(double drop_rate, const DropoutOptions& options)
    : rate(drop_rate), deterministic(options.deterministic), broadcast_dims(options.broadcast_dims) {
  if (!(rate >= 0 && rate <= 1)) throw ValueError(fmt::format("[Dropout] rate is {}. Give a number in [0, 1].", rate));
}

Dropout::Dropout(double drop_rate, Rngs& streams, const DropoutOptions& options) : Dropout(drop_rate, options) {
  rngs = streams.stream(options.rng_collection).fork();
}

Tensor Dropout::operator()(const Tensor& x, const DropoutCall& call) {
  if (rate == 0 || call.deterministic.value_or(deterministic)) return x;
  if (rate == 1) return zeros_like(x);
  if (!is_floating(x.dtype())) {
    throw DTypeError(fmt::format("[Dropout] x is {}; it takes floating types. Convert with astype.", describe(x)));
  }
  if (!rngs) {
    throw StateError(
        "[Dropout] there is no stream to draw from in training mode. Construct the layer with Rngs, or call nn::eval.");
  }
  const Shape shape = mask_shape(x, broadcast_dims);
  const double keep = 1 - rate;
  const Tensor kept = random::bernoulli(rngs->draw(), shape, keep);
  return differentiable(where(kept, stop_gradient(x) / keep, 0), {x},
                        [kept, keep](const Tensor& dy) { return std::vector<Cotangent>{where(kept, dy / keep, 0)}; });
}

}  // namespace strata::nn
