// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
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

// Which variables? A predicate on path and variable that is also a value: it can be compared, hashed and printed.
// Filters are made by the functions below and combined by &&, || and !; a lambda of the form of Predicate converts to
// one.
//
// Equality is by structure: all(a, b) differs from a && b only if it has other members or another order; !!a is not a.
// A predicate equals only copies of the same filter.
//
// Filters stand within filters up to 1000 levels deep; more throw FilterError, as does an empty std::function.
class Filter {
 public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Filter> &&
           std::is_invocable_r_v<bool, F, const Path&, const Variable&>) Filter(F predicate)
      : Filter(from_predicate(Predicate(std::move(predicate)))) {}

  explicit Filter(std::shared_ptr<const internal::FilterNode> node) : node_(std::move(node)) {}

  // True if the filter takes this variable. Parts are tried from left to right until the answer is known.
  [[nodiscard]] bool operator()(const Path& path, const Variable& variable) const;

  // True for `rest`, the literal that may stand only at the end of a split.
  [[nodiscard]] bool is_rest() const noexcept;

  [[nodiscard]] std::size_t hash() const;

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

// all(a, b), any(a, b), and what a filter does not take.
[[nodiscard]] Filter operator&&(const Filter& a, const Filter& b);
[[nodiscard]] Filter operator||(const Filter& a, const Filter& b);
[[nodiscard]] Filter operator!(const Filter& filter);

// The text form: `Param & path('encoder') & !tag('lora')`. A predicate is written `predicate`.
[[nodiscard]] std::string to_string(const Filter& filter);
std::ostream& operator<<(std::ostream& out, const Filter& filter);

}  // namespace strata

template <>
struct std::hash<strata::Filter> {
  std::size_t operator()(const strata::Filter& filter) const { return filter.hash(); }
};
