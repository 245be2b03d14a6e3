// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/recurrent/internal/kernels/sequence.h"

// What is compiled once for every instruction set: the inner loops of sequences and steps.
namespace strata::recurrent::internal {

// Vectors of numbers of row r of block b start at data + b * block_stride + r * row_stride.
template <class T>
struct BlockedRows {
  T* data = nullptr;
  Index block_stride = 0;
  Index row_stride = 0;

  [[nodiscard]] T* at(Index block, Index row) const noexcept {
    return data == nullptr ? nullptr : data + block * block_stride + row * row_stride;
  }
};

// One step of `rows` rows in the blocks [block_begin, block_end). Weights that are larger than a cache are swept
// upwards and downwards in turns, so that each sweep begins with what the last one left there.
template <class T>
struct StepRows {
  const PackedWeights<T>& weights;
  Index rows;
  const T* const* x;  // one pointer per row; null: `start` holds bias and input product
  T* const* y;        // one pointer per row
  const T* h_before;  // [rows, state stride]
  T* h;
  T* memory;  // likewise, of cells that have it
  Index block_begin;
  Index block_end;
  bool downwards;
  const Index* places;  // 0, 1, ... for every row
  T* sums;              // room for step_sums(weights, rows) numbers
  BlockedRows<const T> start = {};
  BlockedRows<T> record = {};
  const T* product_h = nullptr;  // what the product takes in place of h_before
};

// Bias and input product of `count` rows x[q], into row places[q] of `to`.
template <class T>
struct InputProduct {
  const PackedWeights<T>& weights;
  Index count;
  const T* const* x;
  const Index* places;
  BlockedRows<T> to;
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
  const Index* offsets = nullptr;    // end - begin + 1
  const T* const* x = nullptr;       // per pair; null where the pair carries no gradient
  const T* const* h = nullptr;       // per pair, the state before the step; null likewise
  const T* const* h_mask = nullptr;  // per pair, what multiplies that in the product; null: nothing
  T* const* x_gradient = nullptr;    // per pair
  bool add = false;                  // to the gradients of the weights

  [[nodiscard]] Index live_rows(Index t) const noexcept { return offsets[t - begin + 1] - offsets[t - begin]; }
  [[nodiscard]] Index pairs() const noexcept { return offsets[end - begin]; }
};

// Gradients of the pre-activations of rows [row_begin, row_end) at step t, from the gradient of the state after it.
template <class T>
struct RetreatRows {
  const BackwardChunk<T>& chunk;
  Index t;
  Index row_begin;
  Index row_end;
  const T* const* dy;  // the rows' cotangents of y, or null
};

// Rows of consecutive pairs in gate-gradient order: `blocks` runs of `run` numbers, block_stride apart; pairs
// pair_stride apart.
template <class T>
struct GateRows {
  const T* data;
  Index block_stride;
  Index pair_stride;
  Index blocks;
  Index run;
};

// Row q of `to` += row q of `gates`, 0 <= q < count, times transposed panels with `columns` columns in all. `to` has
// room for whole vectors.
template <class T>
struct TransposedProduct {
  GateRows<T> gates;
  Index count;
  const T* panels;
  Index columns;
  T* to;
  Index to_stride;
};

// Rows [row_begin, row_begin + rows) of the gradients of one side's kernels: sums over pairs q of factors[q * stride +
// r] times the gate gradients of pair q.
template <class T>
struct WeightProduct {
  const T* factors;
  Index stride;
  Index row_begin;
  Index rows;
  GateRows<T> gates;
  Index pairs;
  T* sums;  // [rows][gate][lanes]
  const std::array<Matrix<T>, 4>& kernels;
  const std::array<int, 4>& order;  // of the kernels, by slot
  Index hidden;
  bool add;  // to what the kernels' gradients hold
};

enum class Side { input, recurrent };

// The functions of one cell, element type and instruction set, for each pass with the packing it needs.
template <class T>
struct BackwardKernels {
  void (*pack_transposed)(PackedWeights<T>& packed, const GateArrays<const T>& weights, Side side, Index group_begin,
                          Index group_end);
  void (*retreat)(const RetreatRows<T>& rows);
  void (*transposed_product)(const TransposedProduct<T>& product);
  void (*weight_product)(const WeightProduct<T>& product);
  void (*sum_pairs)(const T* gates, Index slots, Index pairs, T* sums);  // [pair][slot][lanes] -> [slot][lanes]
};

template <class T>
struct ForwardKernels {
  Index lanes;
  Index row_tile;  // rows of the largest tile
  Index chains;    // blocks of one row that are computed together, at most
  void (*pack)(PackedWeights<T>& packed, const GateArrays<const T>& weights, Index block_begin, Index block_end);
  void (*step)(const StepRows<T>& step);
  void (*project)(const InputProduct<T>& product);
};

// Numbers that a step keeps between its products and its gate functions.
template <class T>
[[nodiscard]] Index step_sums(const PackedWeights<T>& weights, Index rows) {
  return std::max(rows, weights.forward->chains) * weights.layout().slots * weights.lanes;
}

// For the instruction set in use.
template <class T>
[[nodiscard]] const ForwardKernels<T>& forward_kernels(CellKind kind);
template <class T>
[[nodiscard]] const BackwardKernels<T>& backward_kernels(CellKind kind);

template <>
const ForwardKernels<float>& forward_kernels<float>(CellKind kind);
template <>
const ForwardKernels<double>& forward_kernels<double>(CellKind kind);
template <>
const BackwardKernels<float>& backward_kernels<float>(CellKind kind);
template <>
const BackwardKernels<double>& backward_kernels<double>(CellKind kind);

}  // namespace strata::recurrent::internal
