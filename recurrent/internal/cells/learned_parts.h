// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "strata/recurrent/cell.h"
#include "strata/state/variable.h"

// A parameter for every tensor of a carry, in containers that give it the path that leads to the tensor in the carry.
namespace strata::recurrent::internal {

// std::variant of those of the types that differ; the type itself if there is one.
template <class Variant, class... T>
struct OneOf : std::type_identity<Variant> {};
template <>
struct OneOf<std::variant<>> : std::type_identity<Param> {};
template <class T>
struct OneOf<std::variant<T>> : std::type_identity<T> {};
template <class... Seen, class T, class... Rest>
struct OneOf<std::variant<Seen...>, T, Rest...>
    : OneOf<std::conditional_t<(std::is_same_v<Seen, T> || ...), std::variant<Seen...>, std::variant<Seen..., T>>,
            Rest...> {};

template <class Part>
struct LearnedPartsOf;
template <class Part>
using LearnedParts = typename LearnedPartsOf<Part>::type;

template <class Fields>
struct LearnedFields;
template <class... M>
struct LearnedFields<strata::internal::FieldReferences<M...>> : OneOf<std::variant<>, LearnedParts<M>...> {};

// Of a struct: under the names of its fields.
template <class Part>
struct LearnedPartsOf {
  using Fields = decltype(std::declval<Part&>().strata_tie());
  using type = std::map<std::string, typename LearnedFields<Fields>::type>;
};
template <>
struct LearnedPartsOf<Tensor> : std::type_identity<Param> {};
template <class T, class Allocator>
struct LearnedPartsOf<std::vector<T, Allocator>> : std::type_identity<std::vector<LearnedParts<T>>> {};
template <class T, std::size_t N>
struct LearnedPartsOf<std::array<T, N>> : std::type_identity<std::array<LearnedParts<T>, N>> {};
template <class T>
struct LearnedPartsOf<std::optional<T>> : std::type_identity<std::optional<LearnedParts<T>>> {};

// Parameters with the values make(tensor) for the tensors of a carry.
template <class Part, class F>
LearnedParts<Part> make_learned_parts(const Part& part, F& make) {
  if constexpr (std::is_same_v<Part, Tensor>) {
    return Param(make(part));
  } else if constexpr (IsOptional<Part>::value) {
    if (!part) return std::nullopt;
    return make_learned_parts(*part, make);
  } else if constexpr (IsList<Part>::value) {
    LearnedParts<Part> result{};
    if constexpr (requires { result.resize(part.size()); }) result.resize(part.size());
    for (std::size_t i = 0; i < part.size(); ++i) result[i] = make_learned_parts(part[i], make);
    return result;
  } else {
    LearnedParts<Part> result;
    strata::internal::FieldAccess::each_together(
        [&](std::string_view name, const auto& member) {
          result.emplace(std::string(name), make_learned_parts(member, make));
        },
        part);
    return result;
  }
}

inline constexpr CarryCheck learned_carry_check{"LearnedCarry", "cell's own initial carry"};

// Calls f(tensor, parameter) for the tensors of a carry. Throws ShapeError if lists in it have another length than had
// those that the parameters were made of.
template <class Part, class F>
void with_learned_parts(Part& part, const LearnedParts<Part>& learned, const F& f) {
  if constexpr (std::is_same_v<Part, Tensor>) {
    f(part, learned.value());
  } else if constexpr (IsOptional<Part>::value) {
    learned_carry_check.check_num_entries("", part.has_value(), learned.has_value());
    if (part) with_learned_parts(*part, *learned, f);
  } else if constexpr (IsList<Part>::value) {
    learned_carry_check.check_num_entries("", part.size(), learned.size());
    for (std::size_t i = 0; i < part.size(); ++i) with_learned_parts(part[i], learned[i], f);
  } else {
    strata::internal::FieldAccess::each_together(
        [&]<class Member>(std::string_view name, Member& member) {
          const auto& value = learned.at(std::string(name));
          if constexpr (std::is_same_v<decltype(value), const LearnedParts<Member>&>) {
            with_learned_parts(member, value, f);
          } else {
            with_learned_parts(member, std::get<LearnedParts<Member>>(value), f);
          }
        },
        part);
  }
}

}  // namespace strata::recurrent::internal
