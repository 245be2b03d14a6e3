// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/simplify.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "strata/filters/internal/filter_node.h"

namespace strata {
namespace {

using namespace internal;
using FilterSet = std::unordered_set<Filter>;

template <class P>
bool is(const Filter& filter) {
  return get_part<P>(filter) != nullptr;
}

// What a filter is as a list of List parts: its members if it is one itself, else itself.
template <class List>
std::span<const Filter> members(const Filter& filter) {
  return is<List>(filter) ? children(filter) : std::span<const Filter>(&filter, 1);
}

// The laws are the same for All and Any, with the other one and the constants changing places.
template <class List>
struct Dual;
template <>
struct Dual<All> {
  using Other = Any;
  using Neutral = Everything;
  using Absorbing = Nothing;
};
template <>
struct Dual<Any> {
  using Other = All;
  using Neutral = Nothing;
  using Absorbing = Everything;
};

// Drops the filters that are alternatives (or conjunctions) of more than what another one has all of: of f and f | g,
// the second. The order stays.
template <class List>
void absorb(std::vector<Filter>& filters) {
  using Other = typename Dual<List>::Other;
  // Whoever holds all members of a filter holds its first one.
  std::unordered_map<Filter, std::vector<const Filter*>> by_first_member;
  for (const Filter& filter : filters) by_first_member[members<Other>(filter).front()].push_back(&filter);
  const auto is_absorbed = [&](const Filter& filter) {
    const std::span<const Filter> own = members<Other>(filter);
    if (own.size() == 1) return false;
    const FilterSet set(own.begin(), own.end());
    const auto absorbs = [&](const Filter* other) {
      const std::span<const Filter> theirs = members<Other>(*other);
      return other != &filter && theirs.size() < own.size() &&
             std::all_of(theirs.begin(), theirs.end(), [&](const Filter& member) { return set.contains(member); });
    };
    return std::any_of(own.begin(), own.end(), [&](const Filter& member) {
      const auto candidates = by_first_member.find(member);
      return candidates != by_first_member.end() &&
             std::any_of(candidates->second.begin(), candidates->second.end(), absorbs);
    });
  };
  std::vector<Filter> kept;
  for (const Filter& filter : filters) {
    if (!is_absorbed(filter)) kept.push_back(filter);
  }
  filters = std::move(kept);
}

// Each different filter is looked at once, however many places it has.
class Simplifier {
 public:
  Filter operator()(const Filter& filter) {
    const auto known = results_.find(&filter.node());
    if (known != results_.end()) return known->second;
    Filter result = simplified(filter);
    results_.emplace(&filter.node(), result);
    return result;
  }

 private:
  Filter simplified(const Filter& filter) {
    if (is<Any>(filter)) return simplified_list<Any>(filter);
    if (is<All>(filter)) return simplified_list<All>(filter);
    if (is<Not>(filter)) return simplified_negation((*this)(get_part<Not>(filter)->filter));
    if (is<Rest>(filter)) return everything;
    const auto* paths = get_part<PathIn>(filter);
    const auto* dtypes = get_part<OfDType>(filter);
    if ((paths != nullptr && paths->paths.empty()) || (dtypes != nullptr && dtypes->dtypes.empty())) return nothing;
    return filter;
  }

  static Filter simplified_negation(const Filter& inner) {
    if (is<Everything>(inner)) return nothing;
    if (is<Nothing>(inner)) return everything;
    if (const auto* negated = get_part<Not>(inner)) return negated->filter;
    return !inner;
  }

  template <class List>
  Filter simplified_list(const Filter& filter) {
    const Filter absorbing = make_filter(typename Dual<List>::Absorbing{});
    std::vector<Filter> filters;
    FilterSet seen;
    for (const Filter& child : children(filter)) {
      const Filter simple = (*this)(child);
      for (const Filter& member : members<List>(simple)) {
        if (is<typename Dual<List>::Neutral>(member) || !seen.insert(member).second) continue;
        if (member == absorbing || seen.contains(simplified_negation(member))) return absorbing;
        filters.push_back(member);
      }
    }
    absorb<List>(filters);
    if (filters.empty()) return make_filter(typename Dual<List>::Neutral{});
    if (filters.size() == 1) return filters.front();
    return make_filter(List{std::move(filters)});
  }

  std::unordered_map<const FilterNode*, Filter> results_;
};

}  // namespace

Filter simplify(const Filter& filter) { return filter.is_rest() ? filter : Simplifier()(filter); }

}  // namespace strata
