// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "strata/checkpoint/internal/numpy_dtype.h"
#include "strata/tensor/tensor.h"

namespace strata::checkpoint::internal {

// The bytes of elements of a type in an array of these sizes. Empty if they do not fit 63 bits. Neither may the product
// of the sizes that are not 0 be larger, as in a Shape.
[[nodiscard]] std::optional<std::uint64_t> bytes_of(std::span<const Index> sizes, DType dtype);

// A tensor of elements that lie in row-major order in a file. `data` has exactly their bytes.
[[nodiscard]] Tensor read_elements(std::span<const std::byte> data, NumpyDType element, const Shape& shape);

}  // namespace strata::checkpoint::internal
