// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

// How large a class is that has certain members and no others, so that a forgotten member shows. Members are laid out
// as C++ compilers do on every platform we build for: in order, each at the next multiple of its alignment.
namespace strata::internal {

struct NoBase {};

constexpr std::size_t round_up(std::size_t offset, std::size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

template <class Base, std::size_t N>
struct Padded : Base {
  std::array<char, N> padding;
};

// Where the first member after a base class goes: members may use the padding at the end of a base, so we try how many
// bytes fit in without growing the class.
template <class Base, std::size_t N = 1>
constexpr std::size_t end_of_base() {
  if constexpr (sizeof(Padded<Base, N + 1>) == sizeof(Padded<Base, 1>)) {
    return end_of_base<Base, N + 1>();
  } else {
    return sizeof(Padded<Base, 1>) - N;
  }
}

template <class Self, class Base>
constexpr std::size_t begin_of_members() {
  constexpr bool adds_table = std::is_polymorphic_v<Self> && !std::is_polymorphic_v<Base>;
  if constexpr (std::is_same_v<Base, NoBase>) {
    return adds_table ? sizeof(void*) : 0;
  } else {
    return (adds_table ? round_up(sizeof(void*), alignof(Base)) : 0) + end_of_base<Base>();
  }
}

template <class... M>
struct MemberTypes {};

template <class... M>
MemberTypes<M...> member_types(const M&...);

template <class Self, class Base, class... M>
constexpr bool names_every_member(MemberTypes<M...>) {
  std::size_t offset = begin_of_members<Self, Base>();
  ((offset = round_up(offset, alignof(M)) + sizeof(M)), ...);
  return round_up(std::max<std::size_t>(offset, 1), alignof(Self)) == sizeof(Self);
}

}  // namespace strata::internal
