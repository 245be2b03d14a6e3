// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/internal/reduce.h"

namespace strata::internal {

// Folds elements of one type into accumulators.
struct FoldRows {
  using Function = void (*)(const void* row, Index n, void* accumulators);

  DType accumulator;
  Function fold;   // accumulator[0] = accumulator[0] op row[0] op ... op row[n - 1], in an order fixed by n
  Function merge;  // accumulator[i] = accumulator[i] op row[i] for i in [0, n)
};

// For every type but two-byte floats.
[[nodiscard]] FoldRows fold_rows(Fold fold, DType dtype);

// The vectorised ones: of sums, maxima and minima of float32 and float64; for others both functions are null.
[[nodiscard]] FoldRows simd_fold_rows(Fold fold, DType dtype);

// A tensor of accumulators that hold no element yet.
[[nodiscard]] Tensor empty_accumulators(Fold fold, const Shape& shape, DType accumulator);

}  // namespace strata::internal
