// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/listing.h"

#include <algorithm>

namespace strata::internal {

namespace {

constexpr std::size_t num_listed = 10;

// The first of so many offenders.
std::string list_first(const std::vector<std::string>& offenders, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < std::min(offenders.size(), num_listed); ++i) {
    if (i != 0) text += ", ";
    text += offenders[i];
  }
  if (size > num_listed) text += " and " + std::to_string(size - num_listed) + " more";
  return text;
}

}  // namespace

std::string list_offenders(const std::vector<std::string>& offenders) {
  return list_first(offenders, offenders.size());
}

bool Offenders::wants_text() noexcept { return ++size_ <= num_listed; }

std::string Offenders::sentence(std::string_view what) const {
  return size_ == 0 ? "" : " " + std::string(what) + ": " + list_first(texts_, size_) + ".";
}

std::string shown(const Path& path) { return path.empty() ? "(root)" : to_string(path); }

}  // namespace strata::internal
