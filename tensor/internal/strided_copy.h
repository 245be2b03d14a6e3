// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "strata/tensor/internal/recycler.h"
#include "strata/tensor/shape.h"

namespace strata::internal {

// Copies shape.num_elements() elements of `width` bytes (1, 2, 4 or 8) from one layout to another. Strides are the
// distances between neighbours along each axis, in elements; those of reading may be zero or negative. `to` and `from`
// point to the element whose positions are all 0. One pass over memory: in runs where both layouts have them, in square
// tiles where one is the transpose of the other. The two must not overlap.
void copy_strided(std::byte* to, std::span<const Index> to_strides, const std::byte* from,
                  std::span<const Index> from_strides, const Shape& shape, int width);

// The distances, in elements, between neighbours along each axis of a row-major array.
[[nodiscard]] List<Index> dense_strides(const Shape& shape);

}  // namespace strata::internal
