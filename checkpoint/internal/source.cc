// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/source.h"

#include <fmt/format.h>

#include "strata/tensor/error.h"

namespace strata::checkpoint::internal {

void Source::fail(std::uint64_t offset, std::string_view what, const Path& path) const {
  std::string place = file.empty() ? "" : file + ", ";
  place += fmt::format("byte {}", offset);
  if (!path.empty()) place += ", " + to_string(path);
  throw FormatError(fmt::format("[{}] {}: {}", operation, place, what));
}

}  // namespace strata::checkpoint::internal
