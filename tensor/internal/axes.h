// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "strata/tensor/internal/recycler.h"
#include "strata/tensor/shape.h"

namespace strata::internal {

// Axes as positions in [0, shape.rank()), sorted; negative axes count from the end. Throws ShapeError that starts with
// `[operation]` if there is no such axis or one is named twice.
[[nodiscard]] List<int> normalize_axes(std::span<const int> axes, const Shape& shape, const char* operation);

// Sums and products of sizes. Throw ShapeError if the result does not fit an Index.
[[nodiscard]] Index add_sizes(Index a, Index b, const char* operation);
[[nodiscard]] Index multiply_sizes(Index a, Index b, const char* operation);

// The shape with one size replaced.
[[nodiscard]] Shape with_size(const Shape& shape, int axis, Index size);

}  // namespace strata::internal
