// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "strata/tensor/tensor.h"

namespace strata::support {

using Json = nlohmann::ordered_json;

// The content of a JSON file. Throws IoError if it cannot be read, FormatError if it is no JSON.
[[nodiscard]] Json load_json(const std::filesystem::path& file);

// The sizes of a JSON array of integers.
[[nodiscard]] Shape shape_from(const Json& sizes);

}  // namespace strata::support
