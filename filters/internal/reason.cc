// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/reason.h"

#include <algorithm>

#include "strata/filters/internal/part_match.h"

namespace strata::internal {
namespace {

// The value under the node, computed if it is not there yet.
template <class Value, class Compute>
Value remember(std::unordered_map<const FilterNode*, Value>& known, const Filter& filter, Compute compute) {
  const auto place = known.find(&filter.node());
  if (place != known.end()) return place->second;
  Value value = compute();
  known.emplace(&filter.node(), value);
  return value;
}

}  // namespace

bool Reasons::takes(const Filter& filter) {
  return remember(takes_, filter, [&] {
    const std::span<const Filter> parts = children(filter);
    const auto holds = [&](const Filter& part) { return takes(part); };
    if (get_part<Any>(filter) != nullptr) return std::any_of(parts.begin(), parts.end(), holds);
    if (get_part<All>(filter) != nullptr) return std::all_of(parts.begin(), parts.end(), holds);
    if (get_part<Not>(filter) != nullptr) return !takes(parts.front());
    return internal::takes(filter.node().part, path_, variable_);
  });
}

template <class List>
Filter Reasons::deciding_part_of(const List& list, bool decides_alone) {
  std::vector<Filter> parts;
  for (const Filter& filter : list.filters) {
    if (takes(filter) == decides_alone) return deciding_part(filter);
    parts.push_back(deciding_part(filter));
  }
  return parts.size() == 1 ? parts.front() : make_filter(List{std::move(parts)});
}

Filter Reasons::deciding_part(const Filter& filter) {
  return remember(deciding_, filter, [&] {
    if (const auto* any = get_part<Any>(filter)) return deciding_part_of(*any, true);
    if (const auto* all = get_part<All>(filter)) return deciding_part_of(*all, false);
    if (const auto* negated = get_part<Not>(filter)) return !deciding_part(negated->filter);
    return filter;
  });
}

double Reasons::share(const Filter& filter) {
  return remember(shares_, filter, [&] {
    const std::span<const Filter> parts = children(filter);
    double sum = 0;
    double best = 0;
    for (const Filter& part : parts) {
      sum += share(part);
      best = std::max(best, share(part));
    }
    if (get_part<Any>(filter) != nullptr) return best;
    if (get_part<All>(filter) != nullptr && !parts.empty()) return sum / static_cast<double>(parts.size());
    return takes(filter) ? 1.0 : 0.0;
  });
}

}  // namespace strata::internal
