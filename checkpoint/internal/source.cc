// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/source.h"

#include <fmt/format.h>

#include "strata/tensor/error.h"

namespace strata::checkpoint::internal {

std::string shortened(std::string_view text) {
  constexpr std::size_t shown = 200;
  return text.size() <= shown ? std::string(text) : std::string(text.substr(0, shown)) + "...";
}

void Source::fail(std::uint64_t offset, std::string_view what, const Path& path) const {
  std::string place = file.empty() ? "" : file + ", ";
  place += fmt::format("byte {}", offset);
  if (!path.empty()) place += ", " + shortened(to_string(path));
  throw FormatError(fmt::format("[{}] {}: {}", operation, place, what));
}

}  // namespace strata::checkpoint::internal
