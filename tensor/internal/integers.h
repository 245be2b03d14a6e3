// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "strata/tensor/tensor.h"

namespace strata::internal {

// Calls f(element) for every element of a tensor of integers, in row-major order and in their own type: an Index does
// not hold every uint64.
template <class F>
void for_each_integer(const Tensor& x, const F& f) {
  dispatch(x.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      for (const T element : x.data<T>()) f(element);
    }
  });
}

}  // namespace strata::internal
