// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/elements.h"

#include <algorithm>
#include <limits>

namespace strata::checkpoint::internal {

std::optional<std::uint64_t> bytes_of(std::span<const Index> sizes, DType dtype) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  std::uint64_t product = 1;
  bool empty = false;
  for (const Index size : sizes) {
    const auto factor = static_cast<std::uint64_t>(size);
    if (factor == 0) {
      empty = true;
    } else if (product > most / factor) {
      return std::nullopt;
    } else {
      product *= factor;
    }
  }
  if (empty) return 0;
  const auto element_bytes = static_cast<std::uint64_t>(size_in_bytes(dtype));
  if (product > most / element_bytes) return std::nullopt;
  return product * element_bytes;
}

Tensor read_elements(std::span<const std::byte> data, NumpyDType element, const Shape& shape) {
  Tensor tensor = Tensor::uninitialized(shape, element.dtype);
  const std::span<std::byte> out = tensor.mutable_bytes();
  if (element.dtype == DType::boolean) {
    // NumPy takes every byte but 0 for true, C++ only 1.
    std::transform(data.begin(), data.end(), out.begin(), [](std::byte b) { return std::byte{b != std::byte{0}}; });
    return tensor;
  }
  std::copy(data.begin(), data.end(), out.begin());
  if (!element.swapped) return tensor;
  const std::ptrdiff_t size = size_in_bytes(element.dtype);
  for (auto place = out.begin(); place != out.end(); place += size) std::reverse(place, place + size);
  return tensor;
}

}  // namespace strata::checkpoint::internal
