// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}  // namespace re2

namespace strata::internal {

// A regular expression of RE2, which looks for it in linear time whatever the pattern. Known by its text.
class Regex {
 public:
  // Throws PatternError if the pattern cannot be read or its program would be larger than 1 MiB.
  explicit Regex(std::string pattern);

  [[nodiscard]] const std::string& pattern() const noexcept { return pattern_; }

  // True if the pattern is found somewhere in the text.
  [[nodiscard]] bool is_found_in(std::string_view text) const;

  bool operator==(const Regex& other) const { return pattern_ == other.pattern_; }

 private:
  std::string pattern_;
  std::shared_ptr<const re2::RE2> program_;
};

}  // namespace strata::internal
