// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "strata/filters/filter.h"
#include "strata/filters/internal/glob.h"
#include "strata/filters/internal/regex.h"
#include "strata/filters/tensor_filters.h"

namespace strata::internal {

// The closed list of what a filter can be. First the parts that look at a variable themselves.
struct Rest {
  bool operator==(const Rest&) const = default;
};
struct Everything {
  bool operator==(const Everything&) const = default;
};
struct Nothing {
  bool operator==(const Nothing&) const = default;
};
struct OfKind {
  const Kind* kind;
  bool operator==(const OfKind&) const = default;
};
struct WithTag {
  std::string tag;
  bool operator==(const WithTag&) const = default;
};
struct PathContains {
  Key key;
  bool operator==(const PathContains&) const = default;
};
struct PathLike {
  std::string text;
  bool operator==(const PathLike&) const = default;
};
struct PathIn {
  std::vector<Path> paths;  // sorted, each once
  bool operator==(const PathIn&) const = default;
};
struct PathGlob {
  Glob glob;
  bool operator==(const PathGlob&) const = default;
};
struct PathRegex {
  Regex regex;
  bool operator==(const PathRegex&) const = default;
};
struct OfDType {
  std::vector<DType> dtypes;  // sorted, each once
  bool operator==(const OfDType&) const = default;
};
struct OfShape {
  std::vector<Index> sizes;  // with any_size and any_sizes
  bool operator==(const OfShape&) const = default;
};
struct Measured {
  Measure measure;
  Comparison comparison;
  Index value;
  bool operator==(const Measured&) const = default;
};
struct Custom {
  std::shared_ptr<const Predicate> predicate;  // known by its address
  bool operator==(const Custom&) const = default;
};

// Then the filters that are made of others. Compared by `equal` in the source, which does not walk shared parts twice.
struct Any {
  std::vector<Filter> filters;
};
struct All {
  std::vector<Filter> filters;
};
struct Not {
  Filter filter;
};

using FilterPart = std::variant<Rest, Everything, Nothing, OfKind, WithTag, PathContains, PathLike, PathIn, PathGlob,
                                PathRegex, OfDType, OfShape, Measured, Custom, Any, All, Not>;

// Filters are graphs: a part may stand in several places. What is asked of a whole filter is kept in each node.
struct FilterNode {
  FilterPart part;
  std::size_t hash;  // of the structure
  int depth;         // levels of filters within filters
  double size;       // number of parts when written out, where shared ones count each time
};

// Filters stand within filters up to this depth, so that what recurses over them does not run out of stack.
inline constexpr int max_filter_depth = 1000;

// Throws FilterError if the filter is too deep.
[[nodiscard]] Filter make_filter(FilterPart part);

// The part if it is a P, or null.
template <class P>
const P* get_part(const Filter& filter) {
  return std::get_if<P>(&filter.node().part);
}

// The filters that this one is made of, none for a part that looks at a variable itself.
[[nodiscard]] std::span<const Filter> children(const Filter& filter);

[[nodiscard]] bool equal(const Filter& a, const Filter& b);

}  // namespace strata::internal
