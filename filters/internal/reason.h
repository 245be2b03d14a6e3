// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>

#include "strata/filters/internal/filter_node.h"

namespace strata::internal {

// Why one filter takes one variable, or does not. Parts that stand in several places are looked at once.
class Reasons {
 public:
  Reasons(const Path& path, const Variable& variable) : path_(path), variable_(variable) {}

  [[nodiscard]] bool takes(const Filter& filter);

  // A part of the filter that gives the same answer for this variable by itself: of alternatives the first one that
  // holds, of a conjunction the first one that does not; all of their parts where all are needed.
  [[nodiscard]] Filter deciding_part(const Filter& filter);

  // How much of the filter holds, from 0 to 1: of a conjunction the share of its parts, of alternatives the best one.
  [[nodiscard]] double share(const Filter& filter);

 private:
  template <class List>
  Filter deciding_part_of(const List& list, bool decides_alone);

  const Path& path_;
  const Variable& variable_;
  std::unordered_map<const FilterNode*, bool> takes_;
  std::unordered_map<const FilterNode*, Filter> deciding_;
  std::unordered_map<const FilterNode*, double> shares_;
};

}  // namespace strata::internal
