// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "strata/checkpoint/internal/source.h"
#include "strata/tensor/dtype.h"
#include "strata/tensor/shape.h"

namespace strata::checkpoint::internal {

inline constexpr std::size_t safetensors_length_bytes = 8;  // before the header: its length, little-endian
inline constexpr std::uint64_t max_safetensors_header = 100'000'000;
inline constexpr const char* safetensors_metadata_name = "__metadata__";

// One tensor as the header describes it; begin and end count from the end of the header.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::float32;
  std::vector<Index> sizes;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The tensors of a header, in its order. Whether names are different and where the tensors lie is not looked at. Throws
// FormatError for text that is not of the form. The memory is that of the entries.
[[nodiscard]] std::vector<SafetensorsEntry> parse_safetensors_header(std::span<const std::byte> text,
                                                                     const Source& source);

// The header of these tensors, blanks at its end included: with the length it takes a multiple of 8 bytes.
[[nodiscard]] std::string safetensors_header(std::span<const SafetensorsEntry> entries);

}  // namespace strata::checkpoint::internal
