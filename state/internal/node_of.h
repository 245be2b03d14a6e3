// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "strata/state/fields.h"
#include "strata/state/internal/contents.h"
#include "strata/state/internal/node.h"
#include "strata/state/internal/quote.h"
#include "strata/state/internal/type_name.h"

namespace strata {

// How merge and clone make an object of a type that cannot be copied, before its fields are filled. Specialise it for a
// type that is neither copy- nor default-constructible:  template <> struct strata::Blank<Robot> { static Robot make();
// };
template <class T>
struct Blank {};

template <class T>
requires std::is_default_constructible_v<T>
struct Blank<T> {
  static T make() { return T(); }
};

}  // namespace strata

namespace strata::internal {

template <class T>
const NodeType& node_type();

template <class T>
Node node_of(T& object) {
  using Plain = std::remove_const_t<T>;
  return {const_cast<Plain*>(&object), &node_type<Plain>()};
}

template <class T>
concept HasBlank = requires {
  Blank<T>::make();
};

// A copy of `from`, or a blank object whose fields are queued.
template <class T>
T copy_or_queue(const T& from) {
  if constexpr (copies<T>()) {
    return from;
  } else {
    static_assert(
        HasBlank<T>,
        "merge and clone make modules that are copy- or default-constructible; specialise strata::Blank for this one");
    return Blank<T>::make();
  }
}

// Queues the copying of `from` into `to`, which copy_or_queue made from it.
template <class T>
void queue_copy(T& to, const T& from, PendingCopies& pending) {
  if constexpr (!copies<T>()) pending.entries.push_back({&to, &from, &node_type<T>()});
}

// ---------------------------------------------------------------- values

// The shortest digits that name this number.
std::string real_text(float value);
std::string real_text(double value);
std::string real_text(long double value);

template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_floating_point_v<T>) {
    return real_text(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return quote_text(value);
  } else if constexpr (requires {
                         { to_string(value) } -> std::convertible_to<std::string>;
                       }) {
    return to_string(value);
  } else if constexpr (requires {
                         { name(value) } -> std::convertible_to<std::string_view>;
                       }) {
    return std::string(std::string_view(name(value)));  // of enumerations that have names, as DType has
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::int64_t>(value));
  } else if constexpr (requires {
                         value.has_value();
                         *value;
                       }) {
    return value.has_value() ? value_text(*value) : "none";
  } else if constexpr (requires {
                         value.begin();
                         value.end();
                         value_text(*value.begin());
                       }) {
    std::string text = "[";
    for (const auto& element : value) text += (text.size() == 1 ? "" : ", ") + value_text(element);
    return text + "]";
  } else {
    return "...";
  }
}

template <class T>
std::size_t value_hash(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value != value ? 0 : std::hash<T>{}(value);  // whichever NaN it is
  } else if constexpr (requires {
                         { std::hash<T>{}(value) } -> std::convertible_to<std::size_t>;
                       }) {
    return std::hash<T>{}(value);
  } else {
    return 0;  // equal values still hash alike
  }
}

template <class T>
bool value_equal(const T& a, const T& b) {
  if constexpr (std::is_empty_v<T>) {
    return true;  // a function object without data is known by its type
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return identical(a, b);
  } else if constexpr (std::is_floating_point_v<T>) {
    return a == b || (a != a && b != b);  // NaN too: a module equals itself
  } else {
    return static_cast<bool>(a == b);
  }
}

template <class T>
concept ComparableValue = std::is_empty_v<T> || std::is_same_v<T, Tensor> || std::equality_comparable<T>;

// ---------------------------------------------------------------- the functions of a NodeType, by the shape of the
// type

template <class T>
constexpr NodeType value_type() {
  static_assert(!FieldAccess::mentions_fields<T>,
                "this class derives from a module and must name its own fields with STRATA_FIELDS_EXTEND");
  static_assert(!hides_state<T>(),
                "variables and modules stand in a module themselves, or in a std::vector, array, map, optional, tuple, "
                "pair, variant, unique_ptr or shared_ptr that may change them: in this type they would not be seen");
  static_assert(
      ComparableValue<T>,
      "the type of a module or of one of its fields is not known: a module names its fields with STRATA_FIELDS; other "
      "fields are variables, containers of variables or modules, or plain values with operator==");
  static_assert(std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T>,
                "a value that is a field of a module must be copyable: it is part of the graph definition");
  NodeType type{Role::value, type_name<T>()};
  type.copy = [](void* to, const void* from, PendingCopies&) { *static_cast<T*>(to) = *static_cast<const T*>(from); };
  type.equal = [](const void* a, const void* b) {
    return value_equal(*static_cast<const T*>(a), *static_cast<const T*>(b));
  };
  type.hash = [](const void* object) { return value_hash(*static_cast<const T*>(object)); };
  type.text = [](const void* object) { return value_text(*static_cast<const T*>(object)); };
  return type;
}

template <class T>
constexpr NodeType variable_type() {
  static_assert(std::is_same_v<typename T::strata_kind_self, T>,
                "a kind of variable names itself in its body: struct Adapter : Param { STRATA_KIND(Adapter, Param) };");
  NodeType type{Role::variable, T::strata_kind_name};
  type.variable = [](void* object) -> Variable* { return static_cast<T*>(object); };
  type.copy = [](void* to, const void* from, PendingCopies&) { *static_cast<T*>(to) = *static_cast<const T*>(from); };
  return type;
}

template <class T>
constexpr NodeType module_type() {
  static_assert(FieldAccess::checks_layout<T>());
  static_assert(FieldAccess::all_fields<T>([]<class M>(std::type_identity<M>) { return !std::is_const_v<M>; }),
                "fields of a module are not const: merge and clone give them their values");
  NodeType type{Role::group, type_name<T>()};
  type.children = [](void* object, ChildVisitor& visitor) {
    static constexpr auto order = [] {
      constexpr auto names = FieldAccess::key_order<T>();
      std::array<std::pair<KeyView, std::size_t>, names.size()> keys;
      for (std::size_t i = 0; i < names.size(); ++i) keys[i] = {KeyView(names[i].first), names[i].second};
      return keys;
    }();
    std::array<Node, order.size()> nodes;
    std::size_t count = 0;
    auto collect = [&](std::string_view, auto& member) { nodes[count++] = node_of(member); };
    FieldAccess::each(*static_cast<T*>(object), collect);
    for (const auto& [key, position] : order) visitor.child(key, nodes[position]);
  };
  type.copy = [](void* to, const void* from, PendingCopies& pending) {
    std::array<const void*, FieldAccess::key_order<T>().size()> sources;
    std::size_t count = 0;
    auto collect = [&](std::string_view, auto& member) { sources[count++] = &member; };
    FieldAccess::each(*const_cast<T*>(static_cast<const T*>(from)), collect);
    count = 0;
    auto copy = [&]<class M>(std::string_view, M& member) {
      pending.entries.push_back({&member, sources[count++], &node_type<M>()});
    };
    FieldAccess::each(*static_cast<T*>(to), copy);
  };
  return type;
}

template <class T>
struct ContainerType;  // container_types.h: one specialisation for each container

template <class T>
constexpr NodeType make_node_type() {
  if constexpr (std::derived_from<T, Variable>) {
    return variable_type<T>();
  } else if constexpr (FieldAccess::names_fields<T>) {
    return module_type<T>();
  } else if constexpr (Contents<T>::is_container && holds_state<T>()) {
    return ContainerType<T>::make();
  } else {
    return value_type<T>();
  }
}

template <class T>
const NodeType& node_type() {
  static constexpr NodeType type = make_node_type<T>();
  return type;
}

}  // namespace strata::internal

#include "strata/state/internal/container_types.h"  // IWYU pragma: export
