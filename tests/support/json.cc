// SPDX-License-Identifier: Apache-2.0
#include "support/json.h"

#include <fstream>
#include <vector>

#include "strata/tensor/error.h"

namespace strata::support {

Json load_json(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw IoError("[load_json] " + file.string() + ": cannot be opened.");
  try {
    return Json::parse(stream);
  } catch (const Json::exception& error) {
    throw FormatError("[load_json] " + file.string() + ": " + error.what());
  }
}

Shape shape_from(const Json& sizes) { return Shape(sizes.get<std::vector<Index>>()); }

}  // namespace strata::support
