// SPDX-License-Identifier: Apache-2.0

// From the public layout of the weights to panels.

#include "strata/recurrent/internal/kernels/product-inl.h"

#if defined(STRATA_RECURRENT_INTERNAL_PACKING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_RECURRENT_INTERNAL_PACKING_INL_H_
#undef STRATA_RECURRENT_INTERNAL_PACKING_INL_H_
#else
#define STRATA_RECURRENT_INTERNAL_PACKING_INL_H_
#endif

#include "strata/recurrent/internal/kernels/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace strata::recurrent::internal::HWY_NAMESPACE {

// The panels of one side, blocks [block_begin, block_end). Some rows of the kernels at a time, so that what lies beside
// a block's columns is still in the cache for the next block.
template <class T>
void pack_panels(const std::array<Matrix<const T>, 4>& kernels, const std::array<int, 4>& order, Index gates,
                 Index depth, Index hidden, Index block_begin, Index block_end, T* panels) {
  constexpr Index rows_at_once = 4;
  const Index panel_step = gates * lanes<T>;
  for (Index first = 0; first < depth; first += rows_at_once) {
    const Index last = std::min(first + rows_at_once, depth);
    for (Index b = block_begin; b < block_end; ++b) {
      const Index columns = hidden - b * lanes<T>;
      for (Index g = 0; g < gates; ++g) {
        const Matrix<const T>& kernel = kernels[static_cast<std::size_t>(order[static_cast<std::size_t>(g)])];
        const T* from = kernel.data + first * kernel.stride + b * lanes<T>;
        T* to = panels + (b * depth + first) * panel_step + g * lanes<T>;
        for (Index k = first; k < last; ++k, from += kernel.stride, to += panel_step) {
          hn::Store(load_some(from, columns), Tag<T>(), to);
        }
      }
    }
  }
}

// Adds 1 to the diagonal of the recurrent kernel of a cell with one gate: h R + h is h (R + 1).
template <class T>
void add_residual(PackedWeights<T>& packed, Index block_begin, Index block_end) {
  const Index hidden = packed.shape.hidden;
  for (Index u = block_begin * lanes<T>; u < std::min(block_end * lanes<T>, hidden); ++u) {
    packed.recurrent.data()[(u / lanes<T> * hidden + u) * lanes<T> + u % lanes<T>] += T{1};
  }
}

template <class T>
void pack_bias(const CellLayout& layout, const GateArrays<const T>& weights, Index column, Index columns, T* bias) {
  const Tag<T> d;
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

template <class T>
void pack_blocks(PackedWeights<T>& packed, const GateArrays<const T>& weights, Index block_begin, Index block_end) {
  const CellLayout& layout = packed.layout();
  const CellShape& shape = packed.shape;
  pack_panels(weights.input, layout.input_gate, layout.gates, shape.input, shape.hidden, block_begin, block_end,
              packed.input.data());
  pack_panels(weights.recurrent, layout.recurrent_gate, layout.gates, shape.hidden, shape.hidden, block_begin,
              block_end, packed.recurrent.data());
  if (shape.residual) add_residual(packed, block_begin, block_end);
  for (Index b = block_begin; b < block_end; ++b) {
    pack_bias(layout, weights, b * lanes<T>, shape.hidden - b * lanes<T>,
              packed.bias.data() + b * layout.slots * lanes<T>);
  }
}

// Vectors in a group of transposed panels.
constexpr int group_vectors = 4;

// to[j][i] = from[i][j] for a square of `square_size` rows and columns, the size of the smallest vectors. Each pass
// interleaves the first half of the rows with the second.
#if HWY_TARGET == HWY_SCALAR
template <class T>
constexpr Index square_size = 1;

template <class T>
HWY_INLINE void transpose_square(const T* from, Index, T* to, Index) {
  *to = *from;
}
#else
template <class T>
constexpr Index square_size = Index{16} / static_cast<Index>(sizeof(T));

template <class T>
HWY_INLINE void transpose_square(const T* from, Index from_stride, T* to, Index to_stride) {
  constexpr Index n = square_size<T>;
  using SquareTag = hn::FixedTag<T, n>;
  const SquareTag d;
  hn::Vec<SquareTag> rows[n];
  HWY_UNROLL(4)
  for (Index r = 0; r < n; ++r) rows[r] = hn::LoadU(d, from + r * from_stride);
  HWY_UNROLL(2)
  for (Index pass = 1; pass < n; pass *= 2) {
    hn::Vec<SquareTag> mixed[n];
    HWY_UNROLL(2)
    for (Index r = 0; r < n / 2; ++r) {
      mixed[2 * r] = hn::InterleaveLower(d, rows[r], rows[r + n / 2]);
      mixed[2 * r + 1] = hn::InterleaveUpper(d, rows[r], rows[r + n / 2]);
    }
    HWY_UNROLL(4)
    for (Index r = 0; r < n; ++r) rows[r] = mixed[r];
  }
  HWY_UNROLL(4)
  for (Index r = 0; r < n; ++r) hn::StoreU(rows[r], d, to + r * to_stride);
}
#endif

template <class T>
HWY_INLINE void transpose(const T* from, Index from_stride, Index num_rows, Index num_columns, T* to, Index to_stride) {
  constexpr Index n = square_size<T>;
  for (Index i = 0; i < num_rows; i += n) {
    for (Index j = 0; j < num_columns; j += n) {
      if (i + n <= num_rows && j + n <= num_columns) {
        transpose_square(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);
        continue;
      }
      for (Index r = i; r < std::min(i + n, num_rows); ++r) {
        for (Index c = j; c < std::min(j + n, num_columns); ++c) to[c * to_stride + r] = from[r * from_stride + c];
      }
    }
  }
}

// The groups [group_begin, group_end) of transposed panels of one side: the kernels' rows become columns.
template <class T>
void pack_transposed_groups(PackedWeights<T>& packed, const GateArrays<const T>& weights, Side side, Index group_begin,
                            Index group_end) {
  const CellLayout& layout = packed.layout();
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
        transpose(kernel.data + first * kernel.stride + b * lanes<T>, kernel.stride, count, columns, to, width);
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
