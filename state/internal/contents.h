// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "strata/state/fields.h"
#include "strata/state/variable.h"

// Which types hold variables, and which of them can be copied.
namespace strata::internal {

template <class T>
struct Contents {  // of a container: the types of its elements
  static constexpr bool is_container = false;
};
template <class... T>
struct ContentsOf {
  static constexpr bool is_container = true;
  template <class Test>
  static constexpr bool any(Test test) {
    return (test(std::type_identity<T>{}) || ...);
  }
  template <class Test>
  static constexpr bool all(Test test) {
    return (test(std::type_identity<T>{}) && ...);
  }
};
template <class T>
struct Contents<std::vector<T>> : ContentsOf<T> {};
template <class T, std::size_t N>
struct Contents<std::array<T, N>> : ContentsOf<T> {};
template <class K, class T, class Less>
struct Contents<std::map<K, T, Less>> : ContentsOf<T> {};
template <class T>
struct Contents<std::optional<T>> : ContentsOf<T> {};
template <class... T>
struct Contents<std::tuple<T...>> : ContentsOf<T...> {};
template <class A, class B>
struct Contents<std::pair<A, B>> : ContentsOf<A, B> {};
template <class... T>
struct Contents<std::variant<T...>> : ContentsOf<T...> {};
template <class T>
struct Contents<std::unique_ptr<T>> : ContentsOf<T> {};
template <class T>
struct Contents<std::shared_ptr<T>> : ContentsOf<T> {};

// True for variables, modules, and containers of them; containers of plain values are plain values.
template <class T>
constexpr bool holds_state() {
  if constexpr (std::derived_from<T, Variable> || FieldAccess::mentions_fields<T>) {
    return true;
  } else if constexpr (Contents<T>::is_container) {
    return Contents<T>::any([]<class E>(std::type_identity<E>) { return holds_state<E>(); });
  } else {
    return false;
  }
}

// True for types that are no place for variables or modules and yet have some within: other containers, plain pointers,
// pointers to const. They would pass for plain values, and their variables be lost.
template <class T>
constexpr bool hides_state();

template <class T, class Within>
constexpr bool hides_state_within() {
  using Plain = std::remove_cv_t<Within>;
  if constexpr (std::is_same_v<Plain, T> || !requires { sizeof(Plain); }) {
    return false;
  } else {
    return holds_state<Plain>() || hides_state<Plain>();
  }
}

template <class T>
constexpr bool hides_state() {
  if constexpr (std::is_pointer_v<T> && std::is_object_v<std::remove_pointer_t<T>>) {
    return hides_state_within<T, std::remove_pointer_t<T>>();
  } else if constexpr (std::is_array_v<T>) {
    return hides_state_within<T, std::remove_extent_t<T>>();
  } else if constexpr (Contents<T>::is_container) {
    return Contents<T>::any([]<class E>(std::type_identity<E>) { return hides_state_within<T, E>(); });
  } else if constexpr (requires { typename T::value_type; }) {
    return hides_state_within<T, typename T::value_type>();
  } else if constexpr (requires { typename T::element_type; }) {
    return hides_state_within<T, typename T::element_type>();
  } else {
    return false;
  }
}

template <class T>
struct IsUniquePointer : std::false_type {};
template <class T>
struct IsUniquePointer<std::unique_ptr<T>> : std::true_type {};
template <class T>
struct IsSharedPointer : std::false_type {};
template <class T>
struct IsSharedPointer<std::shared_ptr<T>> : std::true_type {};

// True if the copy constructor compiles. The standard trait is not enough: it says yes for a vector of unique_ptr.
// `Seen` ends the recursion of types that contain themselves.
template <class T, class... Seen>
constexpr bool copies() {
  if constexpr ((std::is_same_v<T, Seen> || ...)) {
    return true;
  } else if constexpr (IsUniquePointer<T>::value) {
    return false;
  } else if constexpr (IsSharedPointer<T>::value) {
    return true;
  } else if constexpr (Contents<T>::is_container) {
    return Contents<T>::all([]<class E>(std::type_identity<E>) { return copies<E, T, Seen...>(); });
  } else if constexpr (std::is_copy_constructible_v<T> && FieldAccess::names_fields<T>) {
    return FieldAccess::all_fields<T>([]<class E>(std::type_identity<E>) { return copies<E, T, Seen...>(); });
  } else {
    return std::is_copy_constructible_v<T>;
  }
}

}  // namespace strata::internal
