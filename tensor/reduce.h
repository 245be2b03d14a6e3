// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/axes.h"
#include "strata/tensor/tensor.h"

// Reductions: one number from all elements along some axes.
//
//   sum(x)                                   // of all elements, a scalar
//   sum(x, -1)                               // along the last axis
//   sum(x, {0, 1}, {.keep_dims = true})      // the reduced axes stay, with size 1
//
// Sums are formed in float64 (integers: 64 bits), in blocks that depend on the shape alone: results have the same bits
// for any number of threads. All functions throw ShapeError if an axis does not exist or is named twice.
namespace strata {

struct ReduceOptions {
  bool keep_dims = false;
};

// Sum and product: 0 and 1 of no elements. Integers and bool give int64, or uint64 if unsigned (JAX keeps the type).
// Differentiable.
[[nodiscard]] Tensor sum(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
[[nodiscard]] Tensor prod(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});

// Mean, and variance: the mean of the squared distance to the mean. NaN of no elements. Integers and bool give float64
// (JAX: float32). Differentiable.
[[nodiscard]] Tensor mean(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
[[nodiscard]] Tensor variance(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});

// The largest and the smallest element; NaN if one is. Throws ShapeError if there are no elements to choose from.
// Differentiable: the first of equal elements, in row-major order, gets the whole gradient (JAX divides it among them).
[[nodiscard]] Tensor max(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
[[nodiscard]] Tensor min(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});

// Whether any element, or every one, is not 0: false and true of no elements.
[[nodiscard]] Tensor any(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
[[nodiscard]] Tensor all(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});

// Positions of the largest and the smallest element along an axis, or in the row-major order of all elements, as int64:
// the first of equal ones; NaN counts as the extreme. Throws ShapeError if there are no elements to choose from.
[[nodiscard]] Tensor argmax(const Tensor& x);
[[nodiscard]] Tensor argmax(const Tensor& x, int axis);
[[nodiscard]] Tensor argmin(const Tensor& x);
[[nodiscard]] Tensor argmin(const Tensor& x, int axis);

}  // namespace strata
