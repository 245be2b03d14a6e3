// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "strata/nn/internal/member_layout.h"
#include "strata/nn/value_and_grad.h"
#include "strata/state/state.h"

// What functions that are called for each member may return, taken apart into tensors that can be stacked.
namespace strata::nn::internal {

template <class>
inline constexpr bool is_member_result = false;

template <class R>
struct MemberResult {
  static_assert(is_member_result<R>,
                "a function that is called for each member returns nothing, a Tensor, a State, what value_and_grad "
                "returns, or a pair or tuple of them");
};

using TensorReader = std::vector<Tensor>::const_iterator;

template <>
struct MemberResult<Tensor> {
  // The tensors of a result, and the axes along which they are stacked.
  static void parts(const Tensor& result, std::vector<Tensor>& tensors) { tensors.push_back(result); }
  static void axes(const Tensor&, const MemberLayout&, std::vector<int>& axes) { axes.push_back(0); }

  // Throws StateError if results differ in more than values.
  static void check_alike(const Tensor&, const Tensor&) {}

  // The result of all members, from the tensors after `next`.
  static Tensor join(const Tensor&, TensorReader& next) { return *next++; }
};

// Variables of the module are stacked as in the module; others, and those that are shared, along the leading axis.
template <>
struct MemberResult<State> {
  static void parts(const State& result, std::vector<Tensor>& tensors);
  static void axes(const State& result, const MemberLayout& layout, std::vector<int>& axes);
  static void check_alike(const State& first, const State& other);
  static State join(const State& first, TensorReader& next);
};

template <class... R>
struct MemberResult<std::tuple<R...>> {
  using Tuple = std::tuple<R...>;

  static void parts(const Tuple& result, std::vector<Tensor>& tensors) {
    std::apply([&](const R&... part) { (MemberResult<R>::parts(part, tensors), ...); }, result);
  }
  static void axes(const Tuple& result, const MemberLayout& layout, std::vector<int>& axes) {
    std::apply([&](const R&... part) { (MemberResult<R>::axes(part, layout, axes), ...); }, result);
  }
  static void check_alike(const Tuple& first, const Tuple& other) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (MemberResult<R>::check_alike(std::get<I>(first), std::get<I>(other)), ...);
    }
    (std::index_sequence_for<R...>());
  }
  static auto join(const Tuple& first, TensorReader& next) {
    return std::apply(
        [&](const R&... part) {
          return std::tuple<decltype(MemberResult<R>::join(part, next))...>{MemberResult<R>::join(part, next)...};
        },
        first);
  }
};

template <class A, class B>
struct MemberResult<std::pair<A, B>> {
  using Tuple = MemberResult<std::tuple<A, B>>;

  static void parts(const std::pair<A, B>& result, std::vector<Tensor>& tensors) { Tuple::parts(result, tensors); }
  static void axes(const std::pair<A, B>& result, const MemberLayout& layout, std::vector<int>& axes) {
    Tuple::axes(result, layout, axes);
  }
  static void check_alike(const std::pair<A, B>& first, const std::pair<A, B>& other) {
    Tuple::check_alike(first, other);
  }
  static auto join(const std::pair<A, B>& first, TensorReader& next) {
    auto [a, b] = Tuple::join(first, next);
    return std::pair(std::move(a), std::move(b));
  }
};

template <class Value>
struct MemberResult<ValueAndGrad<Value>> {
  using R = ValueAndGrad<Value>;

  static void parts(const R& result, std::vector<Tensor>& tensors) {
    MemberResult<Value>::parts(result.value, tensors);
    MemberResult<State>::parts(result.grads, tensors);
  }
  static void axes(const R& result, const MemberLayout& layout, std::vector<int>& axes) {
    MemberResult<Value>::axes(result.value, layout, axes);
    MemberResult<State>::axes(result.grads, layout, axes);
  }
  static void check_alike(const R& first, const R& other) {
    MemberResult<Value>::check_alike(first.value, other.value);
    MemberResult<State>::check_alike(first.grads, other.grads);
  }
  static auto join(const R& first, TensorReader& next) {
    auto value = MemberResult<Value>::join(first.value, next);
    return ValueAndGrad<decltype(value)>{std::move(value), MemberResult<State>::join(first.grads, next)};
  }
};

}  // namespace strata::nn::internal
