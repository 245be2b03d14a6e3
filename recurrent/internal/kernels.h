// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/recurrent/internal/sequence.h"

namespace strata::recurrent::internal {

// A forward pass as its row groups see it. Rows are positions in the order.
template <class T>
struct ForwardPass {
  const PackedWeights<T>& weights;
  const RowOrder& order;
  SequenceView<const T> x;
  SequenceView<T> y;
  CarryView<T> final_carry;
  T* states;         // the initial states of all rows, followed by room for the states to come
  bool keep;         // states and records of all pairs are kept; else the states of even and odd steps alternate
  T* memory;         // [rows, state stride], the initial memory; overwritten step by step
  T* records;        // with `keep`
  bool one_product;  // input and recurrent product together in each step, instead of the input's beforehand

  // The row of `states` where row 0's state after step t starts, -1 standing for the initial state.
  [[nodiscard]] Index state_row(Index t) const noexcept {
    if (!keep) return t % 2 == 0 ? order.rows() : 0;
    return t < 0 ? 0 : order.rows() + order.offset(t);
  }
};

// One step of all rows of a stream.
template <class T>
struct StreamStep {
  const PackedWeights<T>& weights;
  Index rows;
  const T* const* x;  // one pointer per row
  T* const* y;
  const T* h_before;  // [rows, state stride]
  T* h;
  T* memory;
  T* sums;         // room for stream_sums(rows) numbers, for each thread
  bool downwards;  // the order of blocks; alternate it
};

// A chunk of the backward pass: the steps [begin, end), the last ones that are left. Live pairs are numbered from 0
// within it: row j < live_rows(t) of step t is pair offset[t - begin] + j.
template <class T>
struct BackwardChunk {
  const PackedWeights<T>& weights;
  const Tape<T>& tape;
  const Cotangents<T>& cotangents;
  const Gradients<T>& gradients;
  const Index* live_steps;  // per row: steps behind these have no gradient
  T* state_gradient;        // [rows, state stride]: of h and of c, between the steps
  T* memory_gradient;
  T* gates;  // [block][capacity][slot][lanes]: gradients of the pre-activations
  Index capacity;
  Index begin = 0;
  Index end = 0;
  const Index* offsets = nullptr;  // end - begin + 1
  const T* const* x = nullptr;     // per pair; null where the pair carries no gradient
  const T* const* h = nullptr;     // per pair, the state before the step; null likewise
  T* const* x_gradient = nullptr;  // per pair
  bool add = false;                // to the gradients of the weights

  [[nodiscard]] Index live_rows(Index t) const noexcept { return offsets[t - begin + 1] - offsets[t - begin]; }
  [[nodiscard]] Index pairs() const noexcept { return offsets[end - begin]; }
};

enum class Side { input, recurrent };

// The functions of one cell, element type and instruction set.
template <class T>
struct Kernels {
  Index lanes;
  Index row_tile;  // rows of the largest tile
  void (*pack)(PackedWeights<T>& packed, const GateArrays<const T>& weights, Index block_begin, Index block_end);
  void (*pack_transposed)(PackedWeights<T>& packed, const GateArrays<const T>& weights, Side side, Index group_begin,
                          Index group_end);
  void (*forward_rows)(const ForwardPass<T>& pass, Index row_begin, Index row_end);
  Index (*stream_sums)(Index rows);
  void (*stream_step)(const StreamStep<T>& step, Index block_begin, Index block_end);
  void (*backward_rows)(const BackwardChunk<T>& chunk, Index row_begin, Index row_end);
  void (*input_gradient)(const BackwardChunk<T>& chunk, Index pair_begin, Index pair_end);
  void (*weight_gradient)(const BackwardChunk<T>& chunk, Side side, Index row_begin, Index row_end);
  void (*bias_gradient)(const BackwardChunk<T>& chunk);
};

// For the instruction set in use.
template <class T>
[[nodiscard]] const Kernels<T>& kernels_for(CellKind kind);

template <>
const Kernels<float>& kernels_for<float>(CellKind kind);
template <>
const Kernels<double>& kernels_for<double>(CellKind kind);

}  // namespace strata::recurrent::internal
