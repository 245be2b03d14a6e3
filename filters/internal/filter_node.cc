// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/filter_node.h"

#include <algorithm>
#include <unordered_map>

#include "strata/tensor/error.h"
#include "strata/tensor/internal/hash.h"

namespace strata::internal {
namespace {

std::size_t of_text(std::string_view text) { return std::hash<std::string_view>{}(text); }

template <class List, class HashItem>
std::size_t of_list(const List& list, HashItem hash_item) {
  std::size_t hash = list.size();
  for (const auto& item : list) hash = mix_hash(hash, hash_item(item));
  return hash;
}

struct Hasher {
  std::size_t operator()(const Rest&) const { return 0; }
  std::size_t operator()(const Everything&) const { return 0; }
  std::size_t operator()(const Nothing&) const { return 0; }
  std::size_t operator()(const OfKind& part) const { return std::hash<const void*>{}(part.kind); }
  std::size_t operator()(const WithTag& part) const { return of_text(part.tag); }
  std::size_t operator()(const PathContains& part) const { return of_text(to_string(part.key)); }
  std::size_t operator()(const PathLike& part) const { return of_text(part.text); }
  std::size_t operator()(const PathIn& part) const {
    return of_list(part.paths, [](const Path& path) { return of_text(to_string(path)); });
  }
  std::size_t operator()(const PathGlob& part) const { return of_text(part.glob.pattern()); }
  std::size_t operator()(const PathRegex& part) const { return of_text(part.regex.pattern()); }
  std::size_t operator()(const OfDType& part) const {
    return of_list(part.dtypes, [](DType dtype) { return static_cast<std::size_t>(dtype); });
  }
  std::size_t operator()(const OfShape& part) const { return of_list(part.sizes, std::hash<Index>{}); }
  std::size_t operator()(const Measured& part) const {
    const auto head = mix_hash(static_cast<std::size_t>(part.measure), static_cast<std::size_t>(part.comparison));
    return mix_hash(head, std::hash<Index>{}(part.value));
  }
  std::size_t operator()(const Custom& part) const { return std::hash<const void*>{}(part.predicate.get()); }
  std::size_t operator()(const Any& part) const { return of_list(part.filters, std::hash<Filter>{}); }
  std::size_t operator()(const All& part) const { return of_list(part.filters, std::hash<Filter>{}); }
  std::size_t operator()(const Not& part) const { return part.filter.hash(); }
};

std::span<const Filter> children_of(const FilterPart& part) {
  if (const auto* any = std::get_if<Any>(&part)) return any->filters;
  if (const auto* all = std::get_if<All>(&part)) return all->filters;
  if (const auto* negated = std::get_if<Not>(&part)) return {&negated->filter, 1};
  return {};
}

// Of parts that look at a variable themselves.
struct EqualParts {
  template <class P>
  bool operator()(const P& a, const P& b) const {
    if constexpr (std::equality_comparable<P>) return a == b;
    return true;  // their children are compared on their own
  }
  template <class P, class Q>
  bool operator()(const P&, const Q&) const {
    return false;
  }
};

// Classes of nodes that are equal if all that is left to compare is.
class Classes {
 public:
  // Puts both into one class; false if they were in one already.
  bool join(const FilterNode* a, const FilterNode* b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    parent_[a] = b;
    return true;
  }

 private:
  const FilterNode* find(const FilterNode* node) {
    for (auto place = parent_.find(node); place != parent_.end(); place = parent_.find(node)) {
      const auto above = parent_.find(place->second);
      if (above != parent_.end()) place->second = above->second;
      node = place->second;
    }
    return node;
  }

  std::unordered_map<const FilterNode*, const FilterNode*> parent_;
};

}  // namespace

Filter make_filter(FilterPart part) {
  int depth = 1;
  double size = 1;
  for (const Filter& child : children_of(part)) {
    depth = std::max(depth, child.node().depth + 1);
    size += child.node().size;
  }
  if (depth > max_filter_depth) {
    throw FilterError("[Filter] the filter has more than " + std::to_string(max_filter_depth) +
                      " levels. Give all parts to one `any` or `all` instead of joining them one by one.");
  }
  const std::size_t hash = mix_hash(part.index(), std::visit(Hasher{}, part));
  return Filter(std::make_shared<const FilterNode>(FilterNode{std::move(part), hash, depth, size}));
}

std::span<const Filter> children(const Filter& filter) { return children_of(filter.node().part); }

bool equal(const Filter& first, const Filter& second) {
  Classes classes;
  std::vector<std::pair<const FilterNode*, const FilterNode*>> open{{&first.node(), &second.node()}};
  while (!open.empty()) {
    const auto [a, b] = open.back();
    open.pop_back();
    if (a == b) continue;
    if (a->hash != b->hash || !std::visit(EqualParts{}, a->part, b->part)) return false;
    const std::span<const Filter> left = children_of(a->part);
    const std::span<const Filter> right = children_of(b->part);
    if (left.size() != right.size()) return false;
    if (left.empty() || !classes.join(a, b)) continue;
    for (std::size_t i = 0; i < left.size(); ++i) open.emplace_back(&left[i].node(), &right[i].node());
  }
  return true;
}

}  // namespace strata::internal
