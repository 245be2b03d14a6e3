// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/nn/internal/member_calls.h"
#include "strata/nn/mapped.h"

namespace strata::nn::internal {

template <class A>
inline constexpr bool is_tensor_argument =
    std::same_as<A, Tensor> || std::same_as<A, Mapped> || std::derived_from<A, Variable>;

// What a member is called with in place of A.
template <class A>
using MemberArgument = std::conditional_t<is_tensor_argument<A>, Tensor, const A&>;

template <class A>
void add_input(const A& argument, std::vector<MemberInput>& inputs) {
  if constexpr (std::same_as<A, Mapped>) {
    inputs.push_back({argument.value, argument.axis});
  } else if constexpr (is_tensor_argument<A>) {
    inputs.push_back({argument, shared});
  }
}

// The tensors among the arguments, in order.
template <class... A>
std::vector<MemberInput> inputs_of(const A&... arguments) {
  std::vector<MemberInput> inputs;
  (add_input(arguments, inputs), ...);
  return inputs;
}

template <class A>
MemberArgument<A> member_argument(const A& argument, std::vector<Tensor>::const_iterator& next) {
  if constexpr (is_tensor_argument<A>) {
    return *next++;
  } else {
    return argument;
  }
}

// Calls f(first..., arguments...) with the member's own tensors in place of those among the arguments.
template <class F, class... First, class... A>
decltype(auto) call_member(F&& f, const std::vector<Tensor>& tensors, std::tuple<First...> first,
                           const A&... arguments) {
  [[maybe_unused]] auto next = tensors.begin();
  return std::apply(
      f, std::tuple_cat(std::move(first), std::tuple<MemberArgument<A>...>{member_argument<A>(arguments, next)...}));
}

}  // namespace strata::nn::internal
