// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/tensor.h"

namespace strata {

// The matrix product, by NumPy's rules: a is [*batch, n, k], b is [*batch, k, m], the result [*batch, n, m], where the
// batch axes are broadcast together. A vector a counts as [1, k], a vector b as [k, 1], and the axis added is left out
// of the result: two vectors give their inner product.
//
// If b is a matrix or a vector, all rows of a are multiplied in one product, whatever its batch axes. Element types are
// promoted; two-byte floats are multiplied and summed in float32 and rounded once, integers wrap around, bool gives
// "any of both". Differentiable. The bits do not depend on the number of threads.
//
// Throws ShapeError, naming both shapes, if an operand is a scalar, the inner sizes differ, or the batch axes do not
// broadcast.
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b);

}  // namespace strata
