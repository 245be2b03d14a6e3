// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "strata/tensor/tensor.h"

namespace strata::support {

// All tensors of a safetensors file by name: a header of JSON, then little-endian row-major elements. Reads BF16, F16,
// F32, F64, I8 to I64, U8 to U64 and BOOL. Throws IoError if the file cannot be read, FormatError if it is not of this
// form. For golden data: the library has its own reader for files of strangers.
[[nodiscard]] std::map<std::string, Tensor> load_safetensors(const std::filesystem::path& file);

}  // namespace strata::support
