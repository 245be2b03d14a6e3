// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "strata/checkpoint/internal/numpy_dtype.h"
#include "strata/checkpoint/internal/source.h"
#include "strata/tensor/tensor.h"

namespace strata::checkpoint::internal {

// The most that the text of a header may have: what NumPy reads unless told otherwise.
inline constexpr std::size_t max_npy_text = 10'000;

// The most that stands before the elements: magic, version, length, text.
inline constexpr std::size_t max_npy_header = 12 + max_npy_text;

// What stands before the elements of an .npy file.
struct NpyHeader {
  NumpyDType element{};
  bool column_major = false;
  std::vector<Index> sizes;
  std::size_t size = 0;             // of the header, in bytes
  std::uint64_t element_bytes = 0;  // of all elements
};

// Reads the header from the first bytes of a file: max_npy_header of them or all. Throws FormatError.
[[nodiscard]] NpyHeader parse_npy_header(std::span<const std::byte> bytes, const Source& source);

// The tensor of exactly these elements.
[[nodiscard]] Tensor npy_tensor(const NpyHeader& header, std::span<const std::byte> elements);

// The header that NumPy writes for the tensor in row-major order.
[[nodiscard]] std::string npy_header(const Tensor& tensor);

}  // namespace strata::checkpoint::internal
