// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "strata/recurrent/internal/kernels/aligned_array.h"
#include "strata/recurrent/internal/kernels/cell_layout.h"
#include "strata/tensor/shape.h"

namespace strata::recurrent::internal {

// Rows of contiguous numbers, `stride` apart. Null data: absent.
template <class T>
struct Matrix {
  T* data = nullptr;
  Index stride = 0;

  [[nodiscard]] T* row(Index i) const noexcept { return data + i * stride; }
};

// Weights or their gradients, gate by gate in the order i, f, g, o (LSTM) or r, z, n (GRU). Input kernels are [input,
// hidden], recurrent kernels [hidden, hidden], biases [hidden]. A kernel of all gates side by side is given by pointers
// to its columns.
template <class T>
struct GateArrays {
  std::array<Matrix<T>, 4> input{};
  std::array<Matrix<T>, 4> recurrent{};
  std::array<T*, 4> input_bias{};
  std::array<T*, 4> recurrent_bias{};
};

// The simple cell may add h itself to its pre-activation (`residual`).
struct CellShape {
  CellKind kind;
  Index input;
  Index hidden;
  bool residual = false;
};

template <class T>
struct ForwardKernels;
template <class T>
struct BackwardKernels;

// Weights in the order in which the kernels of one instruction set read them. With N lanes, hidden units come in blocks
// of N, the last one filled with zeros:
//
//   input      [block][input][gate][N]      one panel per block; gates in the order of the cell's slots
//   recurrent  [block][hidden][gate][N]
//   bias       [block][slot][N]             both biases of a gate in one, except where the slots differ
//   transposed_input      [group of up to 4 N inputs][block][gate][N][inputs of the group]    for the backward pass
//   transposed_recurrent  [group of up to 4 N units][block][gate][N][units of the group]
//
// Keep it as long as the parameters do not change.
template <class T>
struct PackedWeights {
  explicit PackedWeights(const CellShape& cell);

  [[nodiscard]] const CellLayout& layout() const noexcept { return *cell_layout; }

  CellShape shape;
  const CellLayout* cell_layout;
  const ForwardKernels<T>* forward;
  const BackwardKernels<T>* backward;
  Index lanes;
  Index blocks;
  Index state_stride;  // between rows of states: the padded hidden size, plus a cache line where rows would share cache
                       // sets

  AlignedArray<T> input;
  AlignedArray<T> recurrent;
  AlignedArray<T> bias;
  AlignedArray<T> transposed_input;
  AlignedArray<T> transposed_recurrent;
};

// Fills input, recurrent and bias from the public layout.
template <class T>
void pack(PackedWeights<T>& packed, const GateArrays<const T>& weights);

// Fills the transposed panels.
template <class T>
void pack_transposed(PackedWeights<T>& packed, const GateArrays<const T>& weights);

extern template struct PackedWeights<float>;
extern template struct PackedWeights<double>;
extern template void pack(PackedWeights<float>&, const GateArrays<const float>&);
extern template void pack(PackedWeights<double>&, const GateArrays<const double>&);
extern template void pack_transposed(PackedWeights<float>&, const GateArrays<const float>&);
extern template void pack_transposed(PackedWeights<double>&, const GateArrays<const double>&);

}  // namespace strata::recurrent::internal
