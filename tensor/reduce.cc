// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/reduce.h"

#include <string>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/operands.h"
#include "strata/tensor/internal/reduce.h"
#include "strata/tensor/manipulate.h"

namespace strata {
namespace {

using internal::Fold;
using internal::Reduction;

// Accumulators as the result of a sum or product of x.
Tensor rounded(const Tensor& accumulators, const Tensor& x, const Shape& shape) {
  return accumulators.reshape(shape).astype(is_floating(x.dtype()) ? x.dtype() : accumulators.dtype());
}

// dy, the gradient of a reduced result, for every element that went into it.
Tensor spread(const Tensor& dy, const Reduction& reduction, const Shape& shape) {
  return broadcast_to(dy.reshape(reduction.with_ones), shape);
}

// The gradient of each element is the product of all others. With one zero among them it is 0 but for the zero itself.
Tensor prod_gradient(const Tensor& dy, const Tensor& x, const Reduction& reduction) {
  const Tensor is_zero = equal(x, 0);
  const Axes axes = reduction.axes();
  const Tensor num_zeros = sum(is_zero, axes, {.keep_dims = true});
  const Tensor of_others = prod(where(is_zero, 1, x), axes, {.keep_dims = true});
  const Tensor with_one_zero = where(logical_and(is_zero, equal(num_zeros, 1)), of_others, 0);
  return dy.reshape(reduction.with_ones) * where(equal(num_zeros, 0), of_others / x, with_one_zero);
}

Tensor extreme(Fold fold, const Tensor& x, const Axes& axes, ReduceOptions options, const char* name) {
  if (is_two_byte_float(x.dtype()))
    return extreme(fold, x.astype(DType::float32), axes, options, name).astype(x.dtype());
  Reduction reduction(x.shape(), axes, name);
  if (reduction.count == 0 && reduction.without.num_elements() != 0) {
    throw ShapeError("[" + std::string(name) + "] there are no elements to choose from: the tensor is " + describe(x) +
                     ".");
  }
  const Tensor extremes = internal::fold(fold, x, reduction);
  Tensor result = extremes.reshape(reduction.result(options));
  if (!x.is_tracked()) return result;
  return differentiable(std::move(result), {x}, [x, extremes, reduction](const Tensor& dy) {
    const Tensor chosen = internal::first_equal(x, extremes, reduction);
    return std::vector<Cotangent>{where(chosen, dy.reshape(reduction.with_ones), 0)};
  });
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, ReduceOptions options) {
  if (is_two_byte_float(x.dtype())) return sum(x.astype(DType::float32), axes, options).astype(x.dtype());
  const Reduction reduction(x.shape(), axes, "sum");
  Tensor result = rounded(internal::fold(Fold::sum, x, reduction), x, reduction.result(options));
  if (!x.is_tracked()) return result;
  return differentiable(std::move(result), {x}, [reduction, shape = x.shape()](const Tensor& dy) {
    return std::vector<Cotangent>{spread(dy, reduction, shape)};
  });
}

Tensor mean(const Tensor& x, const Axes& axes, ReduceOptions options) {
  if (is_two_byte_float(x.dtype())) return mean(x.astype(DType::float32), axes, options).astype(x.dtype());
  if (!is_floating(x.dtype())) return mean(x.astype(DType::float64), axes, options);  // a sum of integers may wrap
  const Reduction reduction(x.shape(), axes, "mean");
  const auto count = static_cast<double>(reduction.count);
  const Tensor mean_values = internal::fold(Fold::sum, x, reduction) / count;
  Tensor result = rounded(mean_values, x, reduction.result(options));
  if (!x.is_tracked()) return result;
  return differentiable(std::move(result), {x}, [reduction, count, shape = x.shape()](const Tensor& dy) {
    return std::vector<Cotangent>{spread(dy / count, reduction, shape)};
  });
}

Tensor variance(const Tensor& x, const Axes& axes, ReduceOptions options) {
  if (is_two_byte_float(x.dtype())) return variance(x.astype(DType::float32), axes, options).astype(x.dtype());
  const Axes named = Reduction(x.shape(), axes, "variance").axes();
  return mean(square(x - mean(x, named, {.keep_dims = true})), named, options);
}

Tensor prod(const Tensor& x, const Axes& axes, ReduceOptions options) {
  if (is_two_byte_float(x.dtype())) return prod(x.astype(DType::float32), axes, options).astype(x.dtype());
  const Reduction reduction(x.shape(), axes, "prod");
  Tensor result = rounded(internal::fold(Fold::product, x, reduction), x, reduction.result(options));
  if (!x.is_tracked()) return result;
  return differentiable(std::move(result), {x}, [x, reduction](const Tensor& dy) {
    return std::vector<Cotangent>{prod_gradient(dy, x, reduction)};
  });
}

Tensor max(const Tensor& x, const Axes& axes, ReduceOptions options) {
  return extreme(Fold::maximum, x, axes, options, "max");
}

Tensor min(const Tensor& x, const Axes& axes, ReduceOptions options) {
  return extreme(Fold::minimum, x, axes, options, "min");
}

Tensor any(const Tensor& x, const Axes& axes, ReduceOptions options) {
  const Reduction reduction(x.shape(), axes, "any");
  return internal::fold(Fold::maximum, x.astype(DType::boolean), reduction).reshape(reduction.result(options));
}

Tensor all(const Tensor& x, const Axes& axes, ReduceOptions options) {
  const Reduction reduction(x.shape(), axes, "all");
  return internal::fold(Fold::minimum, x.astype(DType::boolean), reduction).reshape(reduction.result(options));
}

}  // namespace strata
