// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "strata/state/internal/layout.h"

// Makes a struct a module: names every data member, in the order of declaration. The names are the keys of paths.
//
//   struct Block {
//     nn::Linear dense;
//     Param scale;
//     int width = 0;
//     STRATA_FIELDS(dense, scale, width)
//   };
//
// A member left out, named twice or misspelt does not compile, even while the module is unused: the size of the class
// is compared with that of the members named. Not seen are a small value that fits into padding (a bool after an int),
// two members that change places without changing the size, and variables within a class that has operator== but does
// not name its fields: it passes for a plain value.
#define STRATA_FIELDS(...) STRATA_INTERNAL_FIELDS(::strata::internal::NoBase, __VA_ARGS__)

// The same for a module that derives from a module; the fields of the base come first.
#define STRATA_FIELDS_EXTEND(Base, ...) STRATA_INTERNAL_FIELDS(Base, __VA_ARGS__)

#define STRATA_INTERNAL_FIELDS(Base, ...)                                                                              \
  friend struct ::strata::internal::FieldAccess;                                                                       \
  auto strata_self()->std::remove_reference_t<decltype(*this)>* {                                                      \
    using Self = std::remove_reference_t<decltype(*this)>;                                                             \
    static_assert(                                                                                                     \
        ::strata::internal::names_every_member<Self, Base>(decltype(::strata::internal::member_types(__VA_ARGS__)){}), \
        "STRATA_FIELDS must name every data member of the class, in the order of declaration");                        \
    return this;                                                                                                       \
  }                                                                                                                    \
  using StrataBase [[maybe_unused]] = Base;                                                                            \
  static constexpr auto strata_names() {                                                                               \
    constexpr std::string_view list = #__VA_ARGS__;                                                                    \
    return ::strata::internal::split_names<::strata::internal::count_names(list)>(list);                               \
  }                                                                                                                    \
  auto strata_tie() { return ::strata::internal::references(__VA_ARGS__); }                                            \
  auto strata_tie() const { return ::strata::internal::references(__VA_ARGS__); }

namespace strata::internal {

consteval bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

consteval std::size_t count_names(std::string_view list) {
  if (list.empty()) return 0;
  std::size_t count = 1;
  for (const char c : list) count += c == ',' ? 1 : 0;
  return count;
}

// "a, b, c" as {"a", "b", "c"}. What is thrown here is a message of the compiler.
template <std::size_t N>
consteval std::array<std::string_view, N> split_names(std::string_view list) {
  std::array<std::string_view, N> names;
  std::size_t position = 0;
  for (std::size_t i = 0; i < N; ++i) {
    while (list[position] == ' ') ++position;
    std::size_t end = position;
    while (end < list.size() && is_name_character(list[end])) ++end;
    names[i] = list.substr(position, end - position);
    if (names[i].empty()) throw "STRATA_FIELDS takes plain names of data members";
    while (end < list.size() && list[end] == ' ') ++end;
    if (end < list.size() && list[end] != ',') throw "STRATA_FIELDS takes plain names of data members";
    position = end + 1;
    for (std::size_t j = 0; j < i; ++j) {
      if (names[j] == names[i]) throw "STRATA_FIELDS names a data member twice";
    }
  }
  return names;
}

// The fields of an object. A std::tuple of references takes the compiler ten times as long, for every module that is
// declared.
template <class... M>
struct FieldReferences {
  std::array<const void*, sizeof...(M)> addresses;

  template <std::size_t I>
  [[nodiscard]] auto& get() const {
    using Member = std::tuple_element_t<I, std::tuple<M...>>;
    return *static_cast<Member*>(const_cast<void*>(addresses[I]));
  }
};

template <class... M>
FieldReferences<M...> references(M&... members) {
  return {{static_cast<const void*>(std::addressof(members))...}};
}

// The only one who reads what the macro leaves in a class, private or not.
struct FieldAccess {
  template <class T>
  static constexpr bool mentions_fields = requires(T& t) {
    t.strata_self();
  };

  // False for a class that only inherited its macro: its own members are not named.
  template <class T>
  static constexpr bool names_fields = requires(T& t) {
    { t.strata_self() } -> std::same_as<T*>;
  };

  // The keys of T in order, each with the position of its member in the order of declaration.
  template <class T>
  static consteval auto key_order() {
    constexpr std::size_t inherited = num_inherited<T>();
    constexpr auto own = T::strata_names();
    std::array<std::pair<std::string_view, std::size_t>, inherited + own.size()> order;
    if constexpr (inherited != 0) {
      const auto base = key_order<typename T::StrataBase>();
      std::copy(base.begin(), base.end(), order.begin());
    }
    for (std::size_t i = 0; i < own.size(); ++i) order[inherited + i] = {own[i], inherited + i};
    std::sort(order.begin(), order.end());
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (order[i - 1].first == order[i].first) throw "a module and its base have fields of the same name";
    }
    return order;
  }

  // True if test(std::type_identity<M>{}) holds for the type M of every field.
  template <class T, class Test>
  static constexpr bool all_fields(Test test) {
    using Base = typename T::StrataBase;
    bool all = true;
    if constexpr (!std::is_same_v<Base, NoBase>) all = all_fields<Base>(test);
    return all && all_of_tie(test, std::type_identity<decltype(std::declval<T&>().strata_tie())>{});
  }

  // Instantiates the body of strata_self, whose assertion a class template would otherwise never come to.
  template <class T>
  static constexpr bool checks_layout() {
    return Instantiated<T, &T::strata_self>::value;
  }

  // Calls f(name, member) for every field, those of the base module first.
  template <class T, class F>
  static void each(T& object, F&& f) {
    using Base = typename T::StrataBase;
    if constexpr (!std::is_same_v<Base, NoBase>) each<Base>(object, f);
    each_together(f, static_cast<T&>(object));
  }

  // Calls f(name, members...) for every field that T itself names, with that member of all objects.
  template <class F, class T, class... Same>
  static void each_together(F&& f, T& object, Same&... others) {
    static constexpr auto names = std::remove_const_t<T>::strata_names();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (call_with<I>(f, names[I], object.T::strata_tie(), others.Same::strata_tie()...), ...);
    }
    (std::make_index_sequence<names.size()>());
  }

 private:
  // A comparison with null would do, but is no constant where null pointers are sanitized.
  template <class T, T* (T::*)()>
  struct Instantiated : std::true_type {};

  template <std::size_t I, class F, class... Tie>
  static void call_with(F& f, std::string_view name, const Tie&... ties) {
    f(name, ties.template get<I>()...);
  }

  template <class Test, class... M>
  static constexpr bool all_of_tie([[maybe_unused]] Test test, std::type_identity<FieldReferences<M...>>) {
    return (test(std::type_identity<M>{}) && ...);
  }

  template <class T>
  static consteval std::size_t num_inherited() {
    using Base = typename T::StrataBase;
    if constexpr (std::is_same_v<Base, NoBase>) {
      return 0;
    } else {
      return num_inherited<Base>() + Base::strata_names().size();
    }
  }
};

}  // namespace strata::internal

namespace strata {

// A struct that names its fields with STRATA_FIELDS.
template <class T>
concept Module = internal::FieldAccess::names_fields<T>;

}  // namespace strata
