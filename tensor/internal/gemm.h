// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/shape.h"

namespace strata::internal {

struct GemmOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  bool accumulate = false;  // add to C instead of overwriting it
};

// C = op(A) op(B), or C += op(A) op(B), for row-major matrices: op(A) is [m, k], op(B) is [k, n], C is [m, n]. A
// transposed operand lies in memory as [k, m] or [n, k]. `lda`, `ldb`, `ldc` are the distances between neighbouring
// rows in memory, in elements. With k = 0 the product is zero. C must not overlap A or B.
//
// Every element is summed over k in an order fixed by k alone (and by whether m or n is 1), so that the bits do not
// depend on the number of threads. Small products run on the calling thread; larger ones are cut into blocks of C.
void gemm(Index m, Index n, Index k, const float* a, Index lda, const float* b, Index ldb, float* c, Index ldc,
          GemmOptions options = {});
void gemm(Index m, Index n, Index k, const double* a, Index lda, const double* b, Index ldb, double* c, Index ldc,
          GemmOptions options = {});

// The distances between neighbouring matrices of a batch, in elements; 0 uses the same operand for all.
struct BatchStrides {
  Index a;
  Index b;
  Index c;
};

// `batch` products of the same size.
void batched_gemm(Index batch, BatchStrides strides, Index m, Index n, Index k, const float* a, Index lda,
                  const float* b, Index ldb, float* c, Index ldc, GemmOptions options = {});
void batched_gemm(Index batch, BatchStrides strides, Index m, Index n, Index k, const double* a, Index lda,
                  const double* b, Index ldb, double* c, Index ldc, GemmOptions options = {});

}  // namespace strata::internal
