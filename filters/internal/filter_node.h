// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "strata/filters/filter.h"

namespace strata::internal {

// The closed list of what a filter can be.
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
struct Custom {
  std::shared_ptr<const Predicate> predicate;  // known by its address
  bool operator==(const Custom&) const = default;
};
struct Any {
  std::vector<Filter> filters;
  bool operator==(const Any&) const = default;
};
struct All {
  std::vector<Filter> filters;
  bool operator==(const All&) const = default;
};
struct Not {
  Filter filter;
  bool operator==(const Not&) const = default;
};

struct FilterNode {
  std::variant<Rest, Everything, Nothing, OfKind, WithTag, PathContains, PathLike, PathIn, Custom, Any, All, Not> what;
  int depth = 1;  // levels of filters within filters
};

}  // namespace strata::internal
