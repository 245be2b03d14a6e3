// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "strata/tensor/shape.h"

namespace strata::internal {

// An operand as the kernels see it: element (i, j) at data[i * row + j * column], one of the two strides being 1.
template <typename T>
struct MatrixOperand {
  const T* data;
  Index row;
  Index column;
};

// C [m, n] (+)= A [m, k] B [k, n]
template <typename T>
struct GemmProblem {
  Index m, n, k;
  MatrixOperand<T> a, b;
  T* c;
  Index ldc;
  bool accumulate;
};

// y [rows] (+)= M [rows, columns] x [columns], M dense along one of its axes, x and y dense.
template <typename T>
struct GemvProblem {
  Index rows, columns;
  MatrixOperand<T> matrix;
  const T* x;
  T* y;
  bool accumulate;
};

// Memory that stays allocated from call to call, of this thread or of the recycler that serves it; at least `size`
// bytes, 64-byte aligned.
enum class PackBuffer { a, b, vector, patches };
[[nodiscard]] void* pack_buffer_bytes(PackBuffer which, std::size_t size);

template <typename T>
[[nodiscard]] T* pack_buffer(PackBuffer which, Index count) {
  return static_cast<T*>(pack_buffer_bytes(which, static_cast<std::size_t>(count) * sizeof(T)));
}

}  // namespace strata::internal
