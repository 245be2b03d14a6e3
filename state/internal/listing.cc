// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/listing.h"

namespace strata::internal {

std::string list_offenders(const std::vector<std::string>& offenders) {
  constexpr std::size_t shown = 10;
  std::string text;
  for (std::size_t i = 0; i < offenders.size() && i < shown; ++i) {
    if (i != 0) text += ", ";
    text += offenders[i];
  }
  if (offenders.size() > shown) text += " and " + std::to_string(offenders.size() - shown) + " more";
  return text;
}

std::string shown(const Path& path) { return path.empty() ? "(root)" : to_string(path); }

}  // namespace strata::internal
