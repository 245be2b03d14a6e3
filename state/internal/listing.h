// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "strata/state/path.h"

namespace strata::internal {

// "a, b, c": the offenders of an error, up to ten, then how many more there are.
std::string list_offenders(const std::vector<std::string>& offenders);

// The same, where only the texts that are listed are made: paths may be long, and offenders many.
class Offenders {
 public:
  template <class F>
  void add(F text) {
    if (wants_text()) texts_.push_back(text());
  }

  // " What: a, b, c.", or nothing if there are none.
  [[nodiscard]] std::string sentence(std::string_view what) const;

 private:
  bool wants_text() noexcept;

  std::vector<std::string> texts_;
  std::size_t size_ = 0;
};

// The path as it stands in messages, where the root needs a name.
std::string shown(const Path& path);

}  // namespace strata::internal
