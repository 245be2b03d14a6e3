// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "strata/tensor/internal/recycler.h"
#include "strata/tensor/reduce.h"
#include "strata/tensor/tensor.h"

// Reductions without gradients.
namespace strata::internal {

enum class Fold { sum, product, maximum, minimum };

// Which axes of a shape go, and the shapes that come out.
struct Reduction {
  // Throws ShapeError that starts with `[operation]` if an axis does not exist or is named twice.
  Reduction(const Shape& shape, const Axes& axes, const char* operation);

  [[nodiscard]] const Shape& result(ReduceOptions options) const { return options.keep_dims ? with_ones : without; }

  // All reduced axes; empty for a scalar.
  [[nodiscard]] Axes axes() const;

  List<bool> reduced;  // for each axis
  Shape with_ones;     // the reduced axes have size 1
  Shape without;       // the reduced axes are left out
  Index count = 1;     // elements per result
};

// The accumulators that all elements of x were folded into, in the shape reduction.with_ones: sums and products of
// float32 and float64 as float64, of integers as int64 or uint64; maxima and minima in the type of x. x is not a
// two-byte float.
[[nodiscard]] Tensor fold(Fold fold, const Tensor& x, const Reduction& reduction);

// True at the first element of x, in row-major order, that is equal to the entry of `extremes` it was reduced to (NaN
// equals NaN). x is float32 or float64.
[[nodiscard]] Tensor first_equal(const Tensor& x, const Tensor& extremes, const Reduction& reduction);

// x summed over the axes along which `shape` was broadcast to the shape of x, without a copy if they are equal: how a
// gradient goes back through broadcasting.
[[nodiscard]] Tensor sum_to_shape(const Tensor& x, const Shape& shape);

}  // namespace strata::internal
