// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "strata/state/path.h"

namespace strata::internal {

// A pattern of paths, as path_glob describes it. Known by its text.
class Glob {
 public:
  // Throws PatternError.
  explicit Glob(std::string pattern);

  [[nodiscard]] const std::string& pattern() const noexcept { return pattern_; }
  [[nodiscard]] bool matches(const Path& path) const;

  bool operator==(const Glob& other) const { return pattern_ == other.pattern_; }

 private:
  struct Range {
    char32_t first;
    char32_t last;
  };
  // One character of a key, or a run of any.
  struct Item {
    bool is_star = false;
    bool is_negated = false;
    std::vector<Range> ranges;
  };
  // One key, or any number of keys.
  struct Segment {
    bool is_star = false;
    bool is_plain = true;  // `text` is the key
    std::string text;
    std::vector<Item> items;
  };
  class Reader;

  static bool fits(const Item& item, char32_t character);
  static bool fits(const Segment& segment, const Key& key);

  std::string pattern_;
  std::vector<Segment> segments_;
};

}  // namespace strata::internal
