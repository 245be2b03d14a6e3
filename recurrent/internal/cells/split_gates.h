// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "strata/tensor/manipulate.h"

namespace strata::recurrent::internal {

// The N equal parts of x along its last axis. Unlike split_axis it needs no list on the heap where no gradient is asked
// for, which is where steps run in real time.
template <std::size_t N>
std::array<Tensor, N> split_gates(const Tensor& x) {
  std::array<Tensor, N> gates;
  if (x.is_tracked()) {
    std::vector<Tensor> parts = split_axis(x, N, -1);
    std::move(parts.begin(), parts.end(), gates.begin());
    return gates;
  }
  const Index size = x.size(-1) / static_cast<Index>(N);
  for (std::size_t gate = 0; gate < N; ++gate) {
    const Index first = static_cast<Index>(gate) * size;
    gates[gate] = slice_axis(x, -1, first, first + size);
  }
  return gates;
}

}  // namespace strata::recurrent::internal
