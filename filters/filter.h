// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/state/path.h"
#include "strata/state/variable.h"

namespace strata {

class Filter;

namespace internal {
struct FilterNode;
}  // namespace internal

// A predicate of one's own on a variable and its path.
using Predicate = std::function<bool(const Path&, const Variable&)>;

// What may be called like a Predicate, if its result reads as true or false.
template <class F>
concept PredicateLike =
    !std::same_as<std::remove_cvref_t<F>, Filter> && requires(F & f, const Path& path, const Variable& variable) {
  static_cast<bool>(std::invoke(f, path, variable));
};

namespace internal {

template <class F>
inline constexpr bool may_be_empty = std::is_pointer_v<F> || std::is_member_pointer_v<F>;
template <class Signature>
inline constexpr bool may_be_empty<std::function<Signature>> = true;

template <PredicateLike F>
Predicate to_predicate(F function) {
  if constexpr (may_be_empty<F>) {
    if (function == nullptr) return nullptr;
  }
  if constexpr (std::same_as<F, Predicate>) {
    return function;
  } else {
    return [function = std::move(function)](const Path& path, const Variable& variable) mutable -> bool {
      return static_cast<bool>(std::invoke(function, path, variable));
    };
  }
}

}  // namespace internal

// Which variables? A predicate on path and variable that is also a value: it can be compared, hashed, printed and, but
// for predicates of one's own, read from its text (parse.h). Filters are made by the functions below, in
// path_patterns.h and in tensor_filters.h, and combined by &&, || and !; a lambda of the form of Predicate converts to
// one.
//
// Equality is by structure: all(a, b) differs from a && b only if it has other members or another order; !!a is not a.
// A predicate equals only copies of the same filter. Filters share their parts: however often a part stands in a
// filter, to compare, hash, evaluate or destroy the filter costs what its different parts cost.
//
// Filters stand within filters up to 1000 levels deep; more throw FilterError, as does an empty std::function.
class Filter {
 public:
  template <PredicateLike F>
  Filter(F predicate) : Filter(from_predicate(internal::to_predicate(std::move(predicate)))) {}

  explicit Filter(std::shared_ptr<const internal::FilterNode> node) : node_(std::move(node)) {}

  // True if the filter takes this variable. Parts are tried from left to right until the answer is known; in a filter
  // of more than a thousand parts, one that stands in several places is tried once.
  [[nodiscard]] bool operator()(const Path& path, const Variable& variable) const;

  // True for `rest`, the literal that may stand only at the end of a split.
  [[nodiscard]] bool is_rest() const noexcept;

  [[nodiscard]] std::size_t hash() const noexcept;

  [[nodiscard]] const internal::FilterNode& node() const noexcept { return *node_; }

 private:
  static Filter from_predicate(Predicate predicate);

  std::shared_ptr<const internal::FilterNode> node_;
};

[[nodiscard]] bool operator==(const Filter& a, const Filter& b);

// Variables of this kind and of the kinds that specialise it.
[[nodiscard]] Filter of_kind(const Kind& kind);

// The types of the filters that are written without parentheses: constants that turn into filters where one is wanted,
// so that they may be used before main as well.
struct RestLiteral {
  operator Filter() const;
};
struct EverythingLiteral {
  operator Filter() const;
};
struct NothingLiteral {
  operator Filter() const;
};
template <class T>
struct TypeLiteral {
  operator Filter() const { return of_kind(kind_of<T>()); }
};

// Everything that no filter before it took: the catch-all at the end of a split, and only there. Takes every variable.
inline constexpr RestLiteral rest;

// Every variable; may stand anywhere, and leaves nothing to the filters after it.
inline constexpr EverythingLiteral everything;

// No variable.
inline constexpr NothingLiteral nothing;

// Variables of the kind T and of the kinds that specialise it: of_type<Param>.
template <std::derived_from<Variable> T>
inline constexpr TypeLiteral<T> of_type;

// Variables whose metadata `tag` is this text, exactly. A text is never a path.
[[nodiscard]] Filter with_tag(std::string tag);

// Variables with this key in their path: an integer is not its digits.
[[nodiscard]] Filter path_contains(Key key);

// Variables with a key in their path whose text holds this text; integers are read as their digits. The empty text is
// in every key, so that only the empty path is left out.
[[nodiscard]] Filter path_like(std::string text);

// Variables at these paths. Order and repetition do not matter.
[[nodiscard]] Filter path_in(std::vector<Path> paths);

// Variables that at least one filter takes; none if there is no filter.
[[nodiscard]] Filter any(std::vector<Filter> filters);

// Variables that every filter takes; all if there is no filter.
[[nodiscard]] Filter all(std::vector<Filter> filters);

template <std::convertible_to<Filter>... F>
[[nodiscard]] Filter any(F... filters) {
  return any(std::vector<Filter>{Filter(std::move(filters))...});
}
template <std::convertible_to<Filter>... F>
[[nodiscard]] Filter all(F... filters) {
  return all(std::vector<Filter>{Filter(std::move(filters))...});
}

template <class F>
concept FilterLike = std::convertible_to<const F&, Filter>;

// all(a, b), any(a, b), and what a filter does not take. Templates, so that `!p` of a named Predicate is a filter too.
[[nodiscard]] Filter negate(const Filter& filter);
template <FilterLike A, FilterLike B>
[[nodiscard]] Filter operator&&(const A& a, const B& b) {
  return all(std::vector<Filter>{a, b});
}
template <FilterLike A, FilterLike B>
[[nodiscard]] Filter operator||(const A& a, const B& b) {
  return any(std::vector<Filter>{a, b});
}
template <FilterLike F>
[[nodiscard]] Filter operator!(const F& filter) {
  return negate(filter);
}

// The text form: `Param & path('encoder') & !tag('lora')`, which parse_filter reads back. A predicate is written
// `predicate`. Of a filter whose text has more than a million characters, the beginning, closed by `...`.
[[nodiscard]] std::string to_string(const Filter& filter);
std::ostream& operator<<(std::ostream& out, const Filter& filter);

}  // namespace strata

template <>
struct std::hash<strata::Filter> {
  std::size_t operator()(const strata::Filter& filter) const { return filter.hash(); }
};
