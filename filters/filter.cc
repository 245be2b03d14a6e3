// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/filter.h"

#include <algorithm>
#include <ostream>

#include "strata/filters/internal/filter_node.h"
#include "strata/tensor/error.h"
#include "strata/tensor/internal/hash.h"

namespace strata {
namespace {

using namespace internal;

// So that comparing, printing and destroying a filter, which recurse, never run out of stack.
constexpr int max_depth = 1000;

template <class Part>
Filter make(Part part, int depth = 1) {
  return Filter(std::make_shared<const FilterNode>(FilterNode{std::move(part), depth}));
}

// The depth of a filter that is made of these.
int depth_above(std::span<const Filter> parts) {
  int depth = 1;
  for (const Filter& part : parts) depth = std::max(depth, part.node().depth + 1);
  if (depth <= max_depth) return depth;
  throw FilterError("[Filter] the filter has more than " + std::to_string(max_depth) +
                    " levels. Give all parts to one `any` or `all` instead of joining them one by one.");
}

struct Matcher {
  const Path& path;
  const Variable& variable;

  bool operator()(const Rest&) const { return true; }
  bool operator()(const Everything&) const { return true; }
  bool operator()(const Nothing&) const { return false; }
  bool operator()(const OfKind& part) const { return variable.kind().is_a(*part.kind); }
  bool operator()(const WithTag& part) const {
    const std::string* tag = variable.tag();
    return tag != nullptr && *tag == part.tag;
  }
  bool operator()(const PathContains& part) const {
    return std::find(path.begin(), path.end(), part.key) != path.end();
  }
  bool operator()(const PathLike& part) const {
    return std::any_of(path.begin(), path.end(), [&](const Key& key) {
      return (key.is_integer() ? std::to_string(key.integer()) : key.text()).find(part.text) != std::string::npos;
    });
  }
  bool operator()(const PathIn& part) const { return std::binary_search(part.paths.begin(), part.paths.end(), path); }
  bool operator()(const Custom& part) const { return (*part.predicate)(path, variable); }
  bool operator()(const Any& part) const {
    return std::any_of(part.filters.begin(), part.filters.end(), [&](const Filter& f) { return f(path, variable); });
  }
  bool operator()(const All& part) const {
    return std::all_of(part.filters.begin(), part.filters.end(), [&](const Filter& f) { return f(path, variable); });
  }
  bool operator()(const Not& part) const { return !part.filter(path, variable); }
};

struct Hasher {
  static std::size_t list(const std::vector<Filter>& filters) {
    std::size_t hash = filters.size();
    for (const Filter& filter : filters) hash = mix_hash(hash, filter.hash());
    return hash;
  }

  std::size_t operator()(const Rest&) const { return 0; }
  std::size_t operator()(const Everything&) const { return 0; }
  std::size_t operator()(const Nothing&) const { return 0; }
  std::size_t operator()(const OfKind& part) const { return std::hash<const void*>{}(part.kind); }
  std::size_t operator()(const WithTag& part) const { return std::hash<std::string>{}(part.tag); }
  std::size_t operator()(const PathContains& part) const { return std::hash<std::string>{}(to_string(part.key)); }
  std::size_t operator()(const PathLike& part) const { return std::hash<std::string>{}(part.text); }
  std::size_t operator()(const PathIn& part) const {
    std::size_t hash = part.paths.size();
    for (const Path& path : part.paths) hash = mix_hash(hash, std::hash<std::string>{}(to_string(path)));
    return hash;
  }
  std::size_t operator()(const Custom& part) const { return std::hash<const void*>{}(part.predicate.get()); }
  std::size_t operator()(const Any& part) const { return list(part.filters); }
  std::size_t operator()(const All& part) const { return list(part.filters); }
  std::size_t operator()(const Not& part) const { return part.filter.hash(); }
};

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

struct Printer {
  // Operators are binary and associate to the left; `a & b & c` is (a & b) & c.
  template <class Part>
  static bool binary(const Filter& filter) {
    const auto* part = std::get_if<Part>(&filter.node().what);
    return part != nullptr && part->filters.size() == 2;
  }
  static std::string group(const Filter& filter, bool parentheses) {
    return parentheses ? "(" + to_string(filter) + ")" : to_string(filter);
  }
  static std::string call(const char* name, const std::vector<Filter>& filters) {
    std::vector<std::string> parts;
    for (const Filter& filter : filters) parts.push_back(to_string(filter));
    return std::string(name) + "(" + joined(parts, ", ") + ")";
  }

  std::string operator()(const Rest&) const { return "rest"; }
  std::string operator()(const Everything&) const { return "everything"; }
  std::string operator()(const Nothing&) const { return "nothing"; }
  std::string operator()(const OfKind& part) const { return std::string(part.kind->name); }
  std::string operator()(const WithTag& part) const { return "tag(" + quoted(part.tag) + ")"; }
  std::string operator()(const PathContains& part) const {
    return "path(" + (part.key.is_integer() ? to_string(part.key) : quoted(part.key.text())) + ")";
  }
  std::string operator()(const PathLike& part) const { return "path_like(" + quoted(part.text) + ")"; }
  std::string operator()(const PathIn& part) const {
    std::vector<std::string> parts;
    for (const Path& path : part.paths) parts.push_back(quoted(to_string(path)));
    return "path_in(" + joined(parts, ", ") + ")";
  }
  std::string operator()(const Custom&) const { return "predicate"; }
  std::string operator()(const Any& part) const {
    if (part.filters.size() != 2) return call("any", part.filters);
    return group(part.filters[0], false) + " | " + group(part.filters[1], binary<Any>(part.filters[1]));
  }
  std::string operator()(const All& part) const {
    if (part.filters.size() != 2) return call("all", part.filters);
    const Filter& left = part.filters[0];
    const Filter& right = part.filters[1];
    return group(left, binary<Any>(left)) + " & " + group(right, binary<Any>(right) || binary<All>(right));
  }
  std::string operator()(const Not& part) const {
    return "!" + group(part.filter, binary<Any>(part.filter) || binary<All>(part.filter));
  }
};

}  // namespace

RestLiteral::operator Filter() const { return make(Rest{}); }
EverythingLiteral::operator Filter() const { return make(Everything{}); }
NothingLiteral::operator Filter() const { return make(Nothing{}); }

Filter Filter::from_predicate(Predicate predicate) {
  if (predicate == nullptr) throw FilterError("[Filter] the predicate is empty.");
  return make(Custom{std::make_shared<const Predicate>(std::move(predicate))});
}

bool Filter::operator()(const Path& path, const Variable& variable) const {
  return std::visit(Matcher{path, variable}, node_->what);
}

bool Filter::is_rest() const noexcept { return std::holds_alternative<Rest>(node_->what); }

std::size_t Filter::hash() const { return mix_hash(node_->what.index(), std::visit(Hasher{}, node_->what)); }

bool operator==(const Filter& a, const Filter& b) { return &a.node() == &b.node() || a.node().what == b.node().what; }

Filter of_kind(const Kind& kind) { return make(OfKind{&kind}); }
Filter with_tag(std::string tag) { return make(WithTag{std::move(tag)}); }
Filter path_contains(Key key) { return make(PathContains{std::move(key)}); }
Filter path_like(std::string text) { return make(PathLike{std::move(text)}); }

Filter path_in(std::vector<Path> paths) {
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return make(PathIn{std::move(paths)});
}

Filter any(std::vector<Filter> filters) {
  const int depth = depth_above(filters);
  return make(Any{std::move(filters)}, depth);
}

Filter all(std::vector<Filter> filters) {
  const int depth = depth_above(filters);
  return make(All{std::move(filters)}, depth);
}

Filter operator&&(const Filter& a, const Filter& b) { return all(std::vector<Filter>{a, b}); }
Filter operator||(const Filter& a, const Filter& b) { return any(std::vector<Filter>{a, b}); }
Filter operator!(const Filter& filter) { return make(Not{filter}, depth_above({&filter, 1})); }

std::string to_string(const Filter& filter) { return std::visit(Printer{}, filter.node().what); }

std::ostream& operator<<(std::ostream& out, const Filter& filter) { return out << to_string(filter); }

}  // namespace strata
