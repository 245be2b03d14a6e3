// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/part_match.h"

#include <algorithm>

#include "strata/filters/internal/wildcards.h"

namespace strata::internal {
namespace {

bool holds(Index left, Comparison comparison, Index right) {
  switch (comparison) {
    case Comparison::equal:
      return left == right;
    case Comparison::not_equal:
      return left != right;
    case Comparison::less:
      return left < right;
    case Comparison::less_equal:
      return left <= right;
    case Comparison::greater:
      return left > right;
    case Comparison::greater_equal:
      break;
  }
  return left >= right;
}

struct Test {
  const Path& path;
  const Variable& variable;

  bool operator()(const Rest&) const { return true; }
  bool operator()(const Everything&) const { return true; }
  bool operator()(const Nothing&) const { return false; }
  bool operator()(const OfKind& part) const { return variable.kind().is_a(*part.kind); }
  bool operator()(const WithTag& part) const {
    if (variable.metadata().empty()) return false;
    const std::string* tag = variable.tag();
    return tag != nullptr && *tag == part.tag;
  }
  bool operator()(const PathContains& part) const { return some_key_fits(part); }
  bool operator()(const PathLike& part) const { return some_key_fits(part); }
  bool operator()(const PathIn& part) const { return std::binary_search(part.paths.begin(), part.paths.end(), path); }
  bool operator()(const PathGlob& part) const { return part.glob.matches(path); }
  bool operator()(const PathRegex& part) const { return part.regex.is_found_in(to_string(path)); }
  bool operator()(const OfDType& part) const {
    return std::binary_search(part.dtypes.begin(), part.dtypes.end(), variable.value().dtype());
  }
  bool operator()(const OfShape& part) const {
    const std::span<const Index> sizes = variable.value().shape().sizes();
    return match_wildcards(
        part.sizes.size(), sizes.size(), [&](std::size_t p) { return part.sizes[p] == any_sizes; },
        [&](std::size_t p, std::size_t i) { return part.sizes[p] == any_size || part.sizes[p] == sizes[i]; });
  }
  bool operator()(const Measured& part) const {
    const Tensor& value = variable.value();
    return holds(part.measure == Measure::size ? value.size() : value.rank(), part.comparison, part.value);
  }
  bool operator()(const Custom& part) const { return (*part.predicate)(path, variable); }
  template <class Composite>
  bool operator()(const Composite&) const {
    return false;  // not asked of filters that are made of others
  }

  template <class Part>
  bool some_key_fits(const Part& part) const {
    return std::any_of(path.begin(), path.end(), [&](const Key& key) { return fits(part, key); });
  }
};

}  // namespace

bool takes(const FilterPart& part, const Path& path, const Variable& variable) {
  return std::visit(Test{path, variable}, part);
}

bool fits(const PathLike& part, const Key& key) {
  if (key.is_integer()) return std::to_string(key.integer()).find(part.text) != std::string::npos;
  return key.text().size() >= part.text.size() && key.text().find(part.text) != std::string::npos;
}

}  // namespace strata::internal
