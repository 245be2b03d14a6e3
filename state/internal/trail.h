// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "strata/state/internal/path_builder.h"
#include "strata/state/path.h"

namespace strata::internal {

// A key of a place that a walk is at. Its text belongs to the module.
struct KeyView {
  std::string_view text;
  Index integer = 0;
  bool is_integer = false;

  [[nodiscard]] Key key() const { return is_integer ? Key(integer) : Key(text); }

  std::strong_ordering operator<=>(const Key& other) const noexcept {
    if (is_integer != other.is_integer()) return other.is_integer() <=> is_integer;
    return is_integer ? integer <=> other.integer() : text <=> std::string_view(other.text());
  }
  bool operator==(const Key& other) const noexcept { return (*this <=> other) == 0; }
  bool operator==(const KeyView&) const = default;
};

// The keys that lead to the place that a walk is at. Becomes a Path only where one is asked for; paths of places below
// the same group share its keys.
class Trail {
 public:
  // One key of the trail. No two steps of a walk have the same number.
  struct Step {
    KeyView key;
    std::uint64_t number;
    mutable Path path;  // the path to here, once it was asked for
  };

  [[nodiscard]] int depth() const noexcept { return static_cast<int>(steps_.size()); }
  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  [[nodiscard]] const Step& operator[](int position) const { return steps_[static_cast<std::size_t>(position)]; }
  [[nodiscard]] const KeyView& back() const { return steps_.back().key; }

  [[nodiscard]] Path path() const;

  // Goes back to the first `depth` keys, then on by one.
  void go_to(std::size_t depth, const KeyView& key) {
    while (steps_.size() > depth) steps_.pop_back();
    steps_.push_back({key, ++last_number_, Path()});
  }

 private:
  std::vector<Step> steps_;
  std::uint64_t last_number_ = 0;
  mutable PathBuilder builder_;
};

}  // namespace strata::internal
