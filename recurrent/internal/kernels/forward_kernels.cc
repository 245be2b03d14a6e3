// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "strata/recurrent/internal/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/recurrent/internal/kernels/forward_kernels.cc"
#include "strata/recurrent/internal/kernels/cells-inl.h"
#include "strata/recurrent/internal/kernels/packing-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::recurrent::internal::HWY_NAMESPACE {

// Rows of x and of h, side by side, times the panels of both, one upon the other. The sums of row r of block b start
// from place[r] of `start`.
template <class T>
struct StepProduct {
  const PackedWeights<T>& weights;
  const T* const* x;  // null: none
  const T* h;
  const Index* places;
  BlockedRows<const T> start;
};

template <class T>
BlockedRows<const T> bias_rows(const PackedWeights<T>& weights) {
  return {weights.bias.data(), weights.layout().slots * lanes<T>, 0};
}

// The part [begin, end) of the products of some rows and blocks. The sums go to their places in `sums`, where they
// continue if begin is not 0.
template <class Cell, int num_rows, int num_panels, class T>
HWY_NOINLINE void step_tile(const StepProduct<T>& product, Index block, Index row, Index begin, Index end,
                            const BlockedRows<T>& to) {
  constexpr CellLayout layout = Cell::layout;
  constexpr Index panel_step = layout.gates * lanes<T>;
  const PackedWeights<T>& weights = product.weights;
  const Index* const places = product.places + row;
  const BlockedRows<const T> from =
      begin > 0
          ? BlockedRows<const T>{to.data, to.block_stride, to.row_stride}
          : BlockedRows<const T>{product.start.at(block, 0), product.start.block_stride, product.start.row_stride};
  Sums<T, num_panels, num_rows, layout.slots> sums;
  load_sums<T>(sums, [&](int p, int r) { return from.data + p * from.block_stride + places[r] * from.row_stride; });
  const T* rows[num_rows];
  const Index inputs = product.x != nullptr ? weights.shape.input : 0;
  if (begin < inputs) {
    for (int r = 0; r < num_rows; ++r) rows[r] = product.x[row + r] + begin;
    accumulate<layout.input_begin, layout.gates>(rows, 1, weights.input.data() + (block * inputs + begin) * panel_step,
                                                 inputs * panel_step, panel_step, std::min(end, inputs) - begin, sums);
  }
  if (end > inputs) {
    const Index first = std::max(begin - inputs, Index{0});
    const Index hidden = weights.shape.hidden;
    for (int r = 0; r < num_rows; ++r) rows[r] = product.h + (row + r) * weights.state_stride + first;
    accumulate<layout.recurrent_begin, layout.gates>(rows, 1,
                                                     weights.recurrent.data() + (block * hidden + first) * panel_step,
                                                     hidden * panel_step, panel_step, end - inputs - first, sums);
  }
  store_sums<T>(sums, [&](int p, int r) { return to.data + p * to.block_stride + places[r] * to.row_stride; });
}

// The part [0, depth) of the products of many rows and one block.
template <class Cell, class T>
HWY_NOINLINE void block_product(const StepProduct<T>& product, Index block, Index rows, Index depth,
                                const BlockedRows<T>& to) {
  constexpr int gates = Cell::layout.gates;
  for_each_piece(depth, panel_piece<T>(gates), [&](Index begin, Index end) HWY_ATTR {
    for_each_tile<tile_rows(gates)>(0, rows, [&](auto num_rows, Index row) HWY_ATTR {
      step_tile<Cell, num_rows.value, 1>(product, block, row, begin, end, to);
    });
  });
}

// The gate functions of `num_panels` blocks of all rows, from their sums [panel][row][slot][lanes].
template <class Cell, class T>
HWY_NOINLINE void advance_rows(const StepRows<T>& step, Index block, Index num_panels) {
  const Tag<T> d;
  const PackedWeights<T>& weights = step.weights;
  const T* sums = step.sums;
  for (Index b = block; b < block + num_panels; ++b) {
    const Index unit = b * lanes<T>;
    for (Index r = 0; r < step.rows; ++r, sums += Cell::layout.slots * lanes<T>) {
      const Index place = r * weights.state_stride + unit;
      T* const memory = Cell::layout.has_memory ? step.memory + place : nullptr;
      const Vector<T> h =
          Cell::template advance<T>(weights.shape.kind, {sums, step.h_before + place, memory, step.record.at(b, r)});
      hn::Store(h, d, step.h + place);
      store_some(h, step.y[r] + unit, weights.shape.hidden - unit);
    }
  }
}

// The blocks [begin, end) of one row, as many together as keep the adders busy: each sum is one chain of dependent
// additions.
template <class Cell, int num_panels, class T>
HWY_INLINE void step_single_row(const StepRows<T>& step, const StepProduct<T>& product, const BlockedRows<T>& sums,
                                Index depth, Index begin, Index end) {
  const Index groups = (end - begin) / num_panels;
  for (Index i = 0; i < groups; ++i) {
    const Index b = begin + num_panels * (step.downwards ? groups - 1 - i : i);
    step_tile<Cell, 1, num_panels>(product, b, 0, 0, depth, sums);
    advance_rows<Cell>(step, b, num_panels);
  }
  if constexpr (num_panels > 1) {
    step_single_row<Cell, num_panels / 2>(step, product, sums, depth, begin + groups * num_panels, end);
  }
}

template <class Cell, class T>
void step_rows(const StepRows<T>& step) {
  constexpr Index row_size = Cell::layout.slots * lanes<T>;
  const PackedWeights<T>& weights = step.weights;
  const Index begin = step.block_begin;
  const Index end = step.block_end;
  const Index depth = weights.shape.hidden + (step.x != nullptr ? weights.shape.input : 0);
  const StepProduct<T> product{weights, step.x, step.product_h != nullptr ? step.product_h : step.h_before, step.places,
                               step.x != nullptr ? bias_rows(weights) : step.start};
  const BlockedRows<T> sums{step.sums, step.rows * row_size, row_size};
  if (step.rows == 1) {
    return step_single_row<Cell, std::max(1, chains / Cell::layout.gates)>(step, product, sums, depth, begin, end);
  }
  for (Index i = 0; i < end - begin; ++i) {
    const Index b = step.downwards ? end - 1 - i : begin + i;
    block_product<Cell>(product, b, step.rows, depth, sums);
    advance_rows<Cell>(step, b, 1);
  }
}

template <class Cell, class T>
void project_inputs(const InputProduct<T>& inputs) {
  const PackedWeights<T>& weights = inputs.weights;
  const StepProduct<T> product{weights, inputs.x, nullptr, inputs.places, bias_rows(weights)};
  for (Index b = 0; b < weights.blocks; ++b) {
    block_product<Cell>(product, b, inputs.count, weights.shape.input,
                        {inputs.to.at(b, 0), inputs.to.block_stride, inputs.to.row_stride});
  }
}

namespace {

template <class Cell, class T>
constexpr ForwardKernels<T> kernels_of_cell{
    lanes<T>, tile_rows(Cell::layout.gates), chains, &pack_blocks<T>, &step_rows<Cell, T>, &project_inputs<Cell, T>,
};

template <class T>
const ForwardKernels<T>* select_kernels(CellKind kind) {
  return with_cell(kind, []<class Cell>(Cell) { return &kernels_of_cell<Cell, T>; });
}

}  // namespace

const ForwardKernels<float>* float_forward_kernels(CellKind kind) { return select_kernels<float>(kind); }
const ForwardKernels<double>* double_forward_kernels(CellKind kind) { return select_kernels<double>(kind); }

}  // namespace strata::recurrent::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::recurrent::internal {

HWY_EXPORT(float_forward_kernels);
HWY_EXPORT(double_forward_kernels);

template <>
const ForwardKernels<float>& forward_kernels<float>(CellKind kind) {
  return *STRATA_DISPATCH(float_forward_kernels)(kind);
}

template <>
const ForwardKernels<double>& forward_kernels<double>(CellKind kind) {
  return *STRATA_DISPATCH(double_forward_kernels)(kind);
}

}  // namespace strata::recurrent::internal
#endif
