// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/filter.h"

#include <algorithm>
#include <unordered_map>

#include "strata/filters/internal/filter_node.h"
#include "strata/filters/internal/part_match.h"
#include "strata/filters/internal/pattern_error.h"
#include "strata/filters/path_patterns.h"
#include "strata/filters/tensor_filters.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

using namespace internal;

// Asks one filter about one variable.
class Evaluation {
 public:
  Evaluation(const Path& path, const Variable& variable, bool keeps_results)
      : path_(path), variable_(variable), keeps_results_(keeps_results) {}

  bool operator()(const Filter& filter) {
    if (children(filter).empty() || !keeps_results_) return evaluate(filter);
    const auto known = results_.find(&filter.node());
    if (known != results_.end()) return known->second;
    const bool result = evaluate(filter);
    results_.emplace(&filter.node(), result);
    return result;
  }

 private:
  bool evaluate(const Filter& filter) {
    if (const auto* any = get_part<Any>(filter)) {
      return std::any_of(any->filters.begin(), any->filters.end(), std::ref(*this));
    }
    if (const auto* all = get_part<All>(filter)) {
      return std::all_of(all->filters.begin(), all->filters.end(), std::ref(*this));
    }
    if (const auto* negated = get_part<Not>(filter)) return !(*this)(negated->filter);
    return takes(filter.node().part, path_, variable_);
  }

  const Path& path_;
  const Variable& variable_;
  bool keeps_results_;
  std::unordered_map<const FilterNode*, bool> results_;
};

template <class Part, class Pattern>
Filter make_pattern(const char* name, std::string text) {
  try {
    return make_filter(Part{Pattern(text)});
  } catch (const PatternError& error) {
    throw FilterError("[" + std::string(name) + "] " + error.what + ", at character " +
                      std::to_string(error.position + 1) + " of the pattern: " + text);
  }
}

}  // namespace

RestLiteral::operator Filter() const { return make_filter(Rest{}); }
EverythingLiteral::operator Filter() const { return make_filter(Everything{}); }
NothingLiteral::operator Filter() const { return make_filter(Nothing{}); }

Filter Filter::from_predicate(Predicate predicate) {
  if (predicate == nullptr) throw FilterError("[Filter] the predicate is empty.");
  return make_filter(Custom{std::make_shared<const Predicate>(std::move(predicate))});
}

bool Filter::operator()(const Path& path, const Variable& variable) const {
  constexpr double few_parts = 1000;
  return Evaluation(path, variable, node_->size > few_parts)(*this);
}

bool Filter::is_rest() const noexcept { return get_part<Rest>(*this) != nullptr; }

std::size_t Filter::hash() const noexcept { return node_->hash; }

bool operator==(const Filter& a, const Filter& b) { return equal(a, b); }

Filter of_kind(const Kind& kind) { return make_filter(OfKind{&kind}); }
Filter with_tag(std::string tag) { return make_filter(WithTag{std::move(tag)}); }
Filter path_contains(Key key) { return make_filter(PathContains{std::move(key)}); }
Filter path_like(std::string text) { return make_filter(PathLike{std::move(text)}); }
Filter path_glob(std::string pattern) { return make_pattern<PathGlob, Glob>("path_glob", std::move(pattern)); }
Filter path_regex(std::string pattern) { return make_pattern<PathRegex, Regex>("path_regex", std::move(pattern)); }

Filter path_in(std::vector<Path> paths) {
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return make_filter(PathIn{std::move(paths)});
}

Filter of_dtype(std::vector<DType> dtypes) {
  std::sort(dtypes.begin(), dtypes.end());
  dtypes.erase(std::unique(dtypes.begin(), dtypes.end()), dtypes.end());
  return make_filter(OfDType{std::move(dtypes)});
}

Filter of_shape(std::vector<Index> sizes) {
  for (const Index size : sizes) {
    if (size >= 0 || size == any_size || size == any_sizes) continue;
    throw FilterError("[of_shape] an axis cannot have the size " + std::to_string(size) +
                      ". Write any_size for an axis of any size, any_sizes for any number of axes.");
  }
  return make_filter(OfShape{std::move(sizes)});
}

Filter compare(Measure measure, Comparison comparison, Index value) {
  return make_filter(Measured{measure, comparison, value});
}

Filter any(std::vector<Filter> filters) { return make_filter(Any{std::move(filters)}); }
Filter all(std::vector<Filter> filters) { return make_filter(All{std::move(filters)}); }
Filter negate(const Filter& filter) { return make_filter(Not{filter}); }

}  // namespace strata
