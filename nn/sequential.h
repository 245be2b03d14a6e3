// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "strata/nn/call.h"
#include "strata/state/fields.h"

namespace strata::nn {

namespace internal {

template <class T>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct IsTuple<std::pair<A, B>> : std::true_type {};

// Calls the layers from number I on, one after the other.
template <std::size_t I, class Layers, class... Args>
auto call_from(Layers& layers, Args&&... args) {
  if constexpr (I < std::tuple_size_v<Layers>) {
    auto result = call(std::get<I>(layers), std::forward<Args>(args)...);
    if constexpr (IsTuple<decltype(result)>::value) {
      return std::apply(
          [&]<class... R>(R&&... results) { return call_from<I + 1>(layers, std::forward<R>(results)...); },
          std::move(result));
    } else {
      return call_from<I + 1>(layers, std::move(result));
    }
  } else if constexpr (sizeof...(Args) == 1) {
    return (std::forward<Args>(args), ...);
  } else {
    return std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...);
  }
}

}  // namespace internal

// Layers and functions, called one after the other on what the one before returned; a tuple or pair is passed on as
// several arguments. Functions keep their position, so that paths are `layers/0/kernel`, `layers/2/kernel`:
//
//   nn::Sequential model{nn::Linear(4, 8, rngs), strata::relu, nn::Linear(8, 2, rngs)};
//
// (In braces: the layers draw their numbers in the order in which they are written.) Functions are plain functions or
// lambdas that capture nothing. An empty Sequential returns what it is given.
template <class... M>
struct Sequential {
  explicit Sequential(M... members) : layers(std::move(members)...) {}

  template <class... Args>
  [[nodiscard]] auto operator()(Args&&... args) {
    return internal::call_from<0>(layers, std::forward<Args>(args)...);
  }

  // Where every layer can be called without changing it.
  template <class... Args>
  [[nodiscard]] auto operator()(Args&&... args) const {
    return internal::call_from<0>(layers, std::forward<Args>(args)...);
  }

  std::tuple<M...> layers;

  STRATA_FIELDS(layers)
};

}  // namespace strata::nn
