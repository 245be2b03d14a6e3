// SPDX-License-Identifier: Apache-2.0

// From the public layout of the weights to panels.

#include "strata/recurrent/internal/cells-inl.h"

#if defined(STRATA_RECURRENT_INTERNAL_PACKING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_RECURRENT_INTERNAL_PACKING_INL_H_
#undef STRATA_RECURRENT_INTERNAL_PACKING_INL_H_
#else
#define STRATA_RECURRENT_INTERNAL_PACKING_INL_H_
#endif

#include "strata/recurrent/internal/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace strata::recurrent::internal::HWY_NAMESPACE {

// One panel: the columns from `column` on of the kernels of all gates. Adds 1 on the diagonal if `residual` is set: h R
// + h is h (R + 1).
template <class Cell, class T>
void pack_panel(const std::array<Matrix<const T>, 4>& kernels, const std::array<int, 4>& gates, Index depth,
                Index column, Index columns, bool residual, T* panel) {
  const Tag<T> d;
  for (Index k = 0; k < depth; ++k) {
    for (int g = 0; g < Cell::layout.gates; ++g) {
      const Matrix<const T>& kernel = kernels[static_cast<std::size_t>(gates[static_cast<std::size_t>(g)])];
      hn::Store(load_some(kernel.data + k * kernel.stride + column, columns), d, panel);
      panel += lanes<T>;
    }
  }
  if (!residual) return;
  panel -= depth * lanes<T>;
  for (Index u = 0; u < std::min(columns, lanes<T>); ++u) panel[(column + u) * lanes<T> + u] += T{1};
}

template <class Cell, class T>
void pack_bias(const GateArrays<const T>& weights, Index column, Index columns, T* bias) {
  const Tag<T> d;
  constexpr CellLayout layout = Cell::layout;
  std::fill_n(bias, layout.slots * lanes<T>, T{0});
  const auto add = [&](const T* from, int slot) HWY_ATTR {
    if (from == nullptr) return;
    T* to = bias + slot * lanes<T>;
    hn::Store(hn::Add(hn::Load(d, to), load_some(from + column, columns)), d, to);
  };
  for (int g = 0; g < layout.gates; ++g) {
    const auto i = static_cast<std::size_t>(g);
    add(weights.input_bias[static_cast<std::size_t>(layout.input_gate[i])], layout.input_begin + g);
    add(weights.recurrent_bias[static_cast<std::size_t>(layout.recurrent_gate[i])], layout.recurrent_begin + g);
  }
}

template <class Cell, class T>
void pack_blocks(PackedWeights<T>& packed, const GateArrays<const T>& weights, Index block_begin, Index block_end) {
  constexpr CellLayout layout = Cell::layout;
  const auto [kind, input, hidden, residual] = packed.shape;
  constexpr Index row = layout.gates * lanes<T>;
  for (Index b = block_begin; b < block_end; ++b) {
    const Index column = b * lanes<T>;
    const Index columns = hidden - column;
    pack_panel<Cell>(weights.input, layout.input_gate, input, column, columns, false,
                     packed.input.data() + b * input * row);
    pack_panel<Cell>(weights.recurrent, layout.recurrent_gate, hidden, column, columns, residual,
                     packed.recurrent.data() + b * hidden * row);
    pack_bias<Cell>(weights, column, columns, packed.bias.data() + b * layout.slots * lanes<T>);
  }
}

// Vectors in a group of transposed panels.
constexpr int group_vectors = 4;

// The groups [group_begin, group_end) of transposed panels of one side: the kernels' rows become columns.
template <class Cell, class T>
void pack_transposed_groups(PackedWeights<T>& packed, const GateArrays<const T>& weights, Side side, Index group_begin,
                            Index group_end) {
  constexpr CellLayout layout = Cell::layout;
  const bool is_input = side == Side::input;
  const auto& kernels = is_input ? weights.input : weights.recurrent;
  const auto& gates = is_input ? layout.input_gate : layout.recurrent_gate;
  const Index rows = is_input ? packed.shape.input : packed.shape.hidden;
  const Index hidden = packed.shape.hidden;
  const Index depth = packed.blocks * layout.gates * lanes<T>;
  T* const all = (is_input ? packed.transposed_input : packed.transposed_recurrent).data();
  for (Index group = group_begin; group < group_end; ++group) {
    const Index first = group * group_vectors * lanes<T>;
    const Index count = std::min(rows - first, group_vectors * lanes<T>);
    const Index width = (count + lanes<T> - 1) / lanes<T> * lanes<T>;
    T* to = all + first * depth;
    for (Index b = 0; b < packed.blocks; ++b) {
      const Index columns = std::min(hidden - b * lanes<T>, lanes<T>);
      for (int g = 0; g < layout.gates; ++g, to += lanes<T> * width) {
        if (count < width || columns < lanes<T>) std::fill_n(to, lanes<T> * width, T{0});
        const Matrix<const T>& kernel = kernels[static_cast<std::size_t>(gates[static_cast<std::size_t>(g)])];
        for (Index i = 0; i < count; ++i) {
          const T* from = kernel.data + (first + i) * kernel.stride + b * lanes<T>;
          for (Index u = 0; u < columns; ++u) to[u * width + i] = from[u];
        }
        if (is_input || !packed.shape.residual) continue;
        for (Index u = 0; u < columns; ++u) {
          const Index i = b * lanes<T> + u - first;
          if (i >= 0 && i < count) to[u * width + i] += T{1};
        }
      }
    }
  }
}

}  // namespace strata::recurrent::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
