// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/normalize.h"

#include <utility>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"

namespace strata::nn::internal {
namespace {

constexpr ReduceOptions keep{.keep_dims = true};

// Means over the axes of the elements that enter the statistics.
class Averaging {
 public:
  Averaging(const Tensor& x, const NormalizeOptions& options) : axes_(options.axes) {
    if (!options.mask) return;
    mask_ = broadcast_to(*options.mask, x.shape());
    count_ = sum(mask_->astype(x.dtype()), axes_, keep);
  }

  // Of the elements of x that are not masked.
  [[nodiscard]] Tensor mean_of(const Tensor& x) const {
    return mask_ ? sum(where(*mask_, x, 0), axes_, keep) / count_ : mean(x, axes_, keep);
  }

  // The sum of all elements, masked or not, divided by the number of those that are not: where elements that do not
  // enter the statistics depend on them nevertheless.
  [[nodiscard]] Tensor share_of(const Tensor& x) const {
    return mask_ ? sum(x, axes_, keep) / count_ : mean(x, axes_, keep);
  }

  // What flows back through the statistics reaches only the elements that entered them.
  [[nodiscard]] Tensor masked(Tensor x) const { return mask_ ? where(*mask_, x, 0) : std::move(x); }

 private:
  Axes axes_;
  std::optional<Tensor> mask_;
  Tensor count_;
};

// The sum of x over the axes along which a tensor of that shape, of the rank of x, was broadcast.
Tensor sum_to(const Tensor& x, const Shape& shape) {
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (shape[axis] == 1) axes.push_back(axis);
  }
  return axes.empty() ? x : sum(x, axes, keep);
}

// With g = dy scale and r = 1 / sqrt(variance + epsilon):  dx = r (g - mean(g) - y' mean(g y')), y' = (x - mean) r.
// Source: Ioffe and Szegedy, "Batch normalization" (2015), section 3, simplified.
Tensor gradient_of_x(const Tensor& g, const Tensor& unscaled, const Tensor& inverse, const Averaging& averaging) {
  Tensor through_statistics = unscaled * averaging.share_of(g * unscaled);
  through_statistics += averaging.share_of(g);
  Tensor dx = g - averaging.masked(std::move(through_statistics));
  dx *= inverse;
  return dx;
}

}  // namespace

Normalized normalize(const Tensor& x, const NormalizeOptions& options) {
  const Averaging averaging(x, options);
  const Tensor plain = stop_gradient(x);
  Normalized result;
  result.mean = averaging.mean_of(plain);
  Tensor unscaled = plain - result.mean;
  result.variance = averaging.mean_of(square(unscaled));
  const Tensor inverse = rsqrt(result.variance + options.epsilon);
  unscaled *= inverse;

  const Tensor scale = options.scale == nullptr ? Tensor() : *options.scale;
  const Tensor bias = options.bias == nullptr ? Tensor() : *options.bias;
  const bool tracked = x.is_tracked() || scale.is_tracked() || bias.is_tracked();
  result.y = tracked ? unscaled : std::move(unscaled);
  if (options.scale != nullptr) result.y *= stop_gradient(scale);
  if (options.bias != nullptr) result.y += stop_gradient(bias);
  if (!tracked) return result;

  const bool is_scaled = options.scale != nullptr;
  result.y = differentiable(
      std::move(result.y), {x, scale, bias},
      [averaging, unscaled, inverse, is_scaled, scale, to_x = x.is_tracked(), to_scale = scale.is_tracked(),
       to_bias = bias.is_tracked(), bias_shape = bias.shape()](const Tensor& dy) {
        std::vector<Cotangent> gradients(3);
        if (to_x) gradients[0] = gradient_of_x(is_scaled ? dy * scale : dy, unscaled, inverse, averaging);
        if (to_scale) gradients[1] = sum_to(dy * unscaled, scale.shape());
        if (to_bias) gradients[2] = sum_to(dy, bias_shape);
        return gradients;
      });
  return result;
}

}  // namespace strata::nn::internal
