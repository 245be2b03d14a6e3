// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/explain.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>

#include "strata/filters/internal/nearest.h"
#include "strata/filters/internal/reason.h"
#include "strata/filters/split.h"

namespace strata {
namespace {

using namespace internal;

// A part that looks at a variable itself, and whether the filter asks for it or for the contrary.
struct NamedPart {
  Filter part;
  bool is_asked_for;
};

class PartCollector {
 public:
  std::vector<NamedPart> collect(const Filter& filter) {
    visit(filter, true);
    return std::move(parts_);
  }

 private:
  void visit(const Filter& filter, bool is_asked_for) {
    if (!seen_[is_asked_for ? 1 : 0].insert(filter).second) return;
    const bool is_negation = get_part<Not>(filter) != nullptr;
    for (const Filter& part : children(filter)) visit(part, is_asked_for != is_negation);
    if (is_negation || get_part<Any>(filter) || get_part<All>(filter)) return;
    if (!get_part<Nothing>(filter) && !get_part<Custom>(filter)) parts_.push_back({filter, is_asked_for});
  }

  std::array<std::unordered_set<Filter>, 2> seen_;
  std::vector<NamedPart> parts_;
};

bool occurs(const Filter& part, const State& state) {
  return std::any_of(state.begin(), state.end(), [&](const auto& entry) { return part(entry.path, entry.variable); });
}

// Names that occur in the state and are spelt almost like what the part asks for.
std::string suggestion(const Filter& part, const State& state) {
  std::set<std::string> names;
  const auto* with_tag = get_part<WithTag>(part);
  const auto* key = get_part<PathContains>(part);
  const auto* paths = get_part<PathIn>(part);
  for (const auto& [path, variable] : state) {
    if (with_tag != nullptr && variable.tag() != nullptr) names.insert(*variable.tag());
    if (paths != nullptr) names.insert(to_string(path));
    if (key == nullptr) continue;
    for (const Key& other : path) names.insert(other.is_integer() ? std::to_string(other.integer()) : other.text());
  }
  const std::vector<std::string> list(names.begin(), names.end());
  if (with_tag != nullptr) return did_you_mean(with_tag->tag, list);
  if (key != nullptr) return did_you_mean(key->key.is_integer() ? to_string(key->key) : key->key.text(), list);
  if (paths != nullptr && paths->paths.size() == 1) return did_you_mean(to_string(paths->paths.front()), list);
  return {};
}

std::optional<Explanation::Nearest> find_nearest(Reasons& reasons, std::span<const Filter> filters) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < filters.size(); ++i) {
    if (reasons.share(filters[i]) > reasons.share(filters[best])) best = i;
  }
  if (reasons.share(filters[best]) == 0) return std::nullopt;
  return Explanation::Nearest{best, reasons.deciding_part(filters[best])};
}

Explanation::Row explain_variable(const State::Entry& entry, std::span<const Filter> filters) {
  Explanation::Row row{entry.path, describe(entry.variable), std::nullopt, std::nullopt, {}, std::nullopt};
  Reasons reasons(entry.path, entry.variable);
  for (std::size_t i = 0; i < filters.size(); ++i) {
    if (!reasons.takes(filters[i])) continue;
    if (row.group) {
      row.also.push_back(i);
    } else {
      row.group = i;
      row.reason = reasons.deciding_part(filters[i]);
    }
  }
  if (!row.group) row.nearest = find_nearest(reasons, filters);
  return row;
}

// Looks for parts of the filter that hold for no variable. True if the filter asks for one of them, not for its
// contrary.
bool find_unknown_parts(Explanation::Group& group, const State& state) {
  bool asks_for_one = false;
  for (const auto& [part, is_asked_for] : PartCollector().collect(group.filter)) {
    if (occurs(part, state)) continue;
    asks_for_one |= is_asked_for;
    if (std::find(group.unknown.begin(), group.unknown.end(), part) != group.unknown.end()) continue;
    group.unknown.push_back(part);
    group.suggestion += suggestion(part, state);
  }
  return asks_for_one;
}

}  // namespace

Explanation explain(const State& state, std::span<const Filter> filters) {
  internal::check_placement(filters);
  Explanation result;
  for (const Filter& filter : filters) result.groups.push_back({filter, 0, 0, {}, {}, {}, {}});
  std::vector<std::set<std::size_t>> emptied_by(filters.size());
  for (const State::Entry& entry : state) {
    result.rows.push_back(explain_variable(entry, filters));
    const Explanation::Row& row = result.rows.back();
    if (!row.group) continue;
    ++result.groups[*row.group].variables;
    result.groups[*row.group].elements += entry.variable.value().size();
    for (const std::size_t later : row.also) emptied_by[later].insert(*row.group);
  }
  for (std::size_t i = 0; i < filters.size(); ++i) {
    Explanation::Group& group = result.groups[i];
    const bool asks_for_unknown = find_unknown_parts(group, state);
    if (group.variables > 0) continue;
    group.emptied_by.assign(emptied_by[i].begin(), emptied_by[i].end());
    group.emptiness = !group.emptied_by.empty() ? Explanation::Emptiness::emptied
                      : asks_for_unknown        ? Explanation::Emptiness::unknown
                                                : Explanation::Emptiness::no_overlap;
  }
  return result;
}

std::vector<Path> Explanation::unmatched() const {
  std::vector<Path> paths;
  for (const Row& row : rows) {
    if (!row.group) paths.push_back(row.path);
  }
  return paths;
}

}  // namespace strata
