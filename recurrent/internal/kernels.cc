// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/recurrent/internal/kernels.cc"
#include "strata/recurrent/internal/backward-inl.h"
#include "strata/recurrent/internal/forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::recurrent::internal::HWY_NAMESPACE {

template <class Cell, class T>
constexpr Kernels<T> kernels_of_cell{
    lanes<T>,
    tile_rows(Cell::layout.gates),
    &pack_blocks<Cell, T>,
    &pack_transposed_groups<Cell, T>,
    &forward_rows<Cell, T>,
    &sums_size<Cell, T>,
    &stream_step<Cell, T>,
    &backward_rows<Cell, T>,
    &input_gradient<Cell, T>,
    &weight_gradient<Cell, T>,
    &bias_gradient<Cell, T>,
};

template <class T>
const Kernels<T>* select_kernels(CellKind kind) {
  switch (kind) {
    case CellKind::lstm:
      return &kernels_of_cell<LstmCell, T>;
    case CellKind::gru:
      return &kernels_of_cell<GruCell, T>;
    case CellKind::simple_tanh:
    case CellKind::simple_relu:
      break;
  }
  return &kernels_of_cell<SimpleCell, T>;
}

const Kernels<float>* float_kernels(CellKind kind) { return select_kernels<float>(kind); }
const Kernels<double>* double_kernels(CellKind kind) { return select_kernels<double>(kind); }

}  // namespace strata::recurrent::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::recurrent::internal {

HWY_EXPORT(float_kernels);
HWY_EXPORT(double_kernels);

template <>
const Kernels<float>& kernels_for<float>(CellKind kind) {
  return *STRATA_DISPATCH(float_kernels)(kind);
}

template <>
const Kernels<double>& kernels_for<double>(CellKind kind) {
  return *STRATA_DISPATCH(double_kernels)(kind);
}

}  // namespace strata::recurrent::internal
#endif
