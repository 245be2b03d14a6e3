// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <type_traits>

namespace strata {

// What a variable is for, as a value that exists at run time: a name and the kind it specialises. There is one object
// for each kind, which lives as long as the program: kinds are compared by address, and variables hold it.
struct Kind {
  const std::string_view name;
  const Kind* const base;  // null for `Variable`, the root

  Kind(std::string_view kind_name, const Kind* base_kind) : name(kind_name), base(base_kind) {}
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;

  // True for the kind itself and for every kind that specialises it.
  [[nodiscard]] bool is_a(const Kind& other) const noexcept {
    for (const Kind* kind = this; kind != nullptr; kind = kind->base) {
      if (kind == &other) return true;
    }
    return false;
  }
};

template <class T>
const Kind& kind_of();

namespace internal {

template <class T>
const Kind* kind_or_none() {
  if constexpr (std::is_void_v<T>) {
    return nullptr;
  } else {
    return &kind_of<T>();
  }
}

}  // namespace internal

// The kind of a variable type: kind_of<Param>().
template <class T>
const Kind& kind_of() {
  static_assert(
      requires { requires std::is_same_v<typename T::strata_kind_self, T>; },
      "a kind of variable names itself in its body: struct Adapter : Param { STRATA_KIND(Adapter, Param) };");
  // One static object, not one in each branch of a condition: compilers name those differently.
  static const Kind kind{T::strata_kind_name, internal::kind_or_none<typename T::strata_kind_base>()};
  return kind;
}

}  // namespace strata
