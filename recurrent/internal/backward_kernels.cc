// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "strata/recurrent/internal/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/recurrent/internal/backward_kernels.cc"
#include "strata/recurrent/internal/cells-inl.h"
#include "strata/recurrent/internal/packing-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::recurrent::internal::HWY_NAMESPACE {

template <class Cell, class T>
void retreat_rows(const RetreatRows<T>& rows) {
  constexpr CellLayout layout = Cell::layout;
  constexpr Index record_size = layout.saved * lanes<T>;
  constexpr Index gates_size = layout.slots * lanes<T>;
  const Tag<T> d;
  const BackwardChunk<T>& chunk = rows.chunk;
  const RowOrder& order = chunk.tape.order;
  const PackedWeights<T>& weights = chunk.weights;
  const Index hidden = weights.shape.hidden;
  const Index first_pair = chunk.offsets[rows.t - chunk.begin];
  for (Index b = 0; b < weights.blocks; ++b) {
    const Index unit = b * lanes<T>;
    const T* record =
        chunk.tape.records.data() + (b * order.pairs() + order.offset(rows.t) + rows.row_begin) * record_size;
    T* gates = chunk.gates + (b * chunk.capacity + first_pair + rows.row_begin) * gates_size;
    for (Index j = rows.row_begin; j < rows.row_end; ++j, record += record_size, gates += gates_size) {
      if (rows.t >= chunk.live_steps[j]) {
        std::fill_n(gates, gates_size, T{0});
        continue;
      }
      const Index place = j * weights.state_stride + unit;
      Vector<T> dh = hn::Load(d, chunk.state_gradient + place);
      if (rows.dy[j] != nullptr) dh = hn::Add(dh, load_some(rows.dy[j] + unit, hidden - unit));
      T* const dc = layout.has_memory ? chunk.memory_gradient + place : nullptr;
      const UnitGradients<T> at{chunk.h[first_pair + j] + unit, record, dc, gates};
      hn::Store(Cell::template retreat<T>(weights.shape.kind, dh, at), d, chunk.state_gradient + place);
    }
  }
}

// The left factor of a product: row r's numbers start at data + b * block_stride + r * row_stride in block b, `run` of
// them, `step` apart.
template <class T>
struct Factors {
  const T* data;
  Index block_stride;
  Index row_stride;
  Index step;
  Index run;
};

// Rows of `to`, each `num_panels` times `width` vectors, += the product of rows of factors, over `blocks` blocks, with
// panels of `width` vectors, their rows panel_step apart and the panels panel_stride; without `add` they are set.
template <int width, int num_rows, int num_panels, class T>
HWY_NOINLINE void product_tile(const Factors<T>& factors, Index blocks, const T* panel, Index panel_stride,
                               Index panel_step, bool add, T* to, Index to_stride) {
  const auto sums_at = [&](int p, int r) { return to + r * to_stride + p * width * lanes<T>; };
  Sums<T, num_panels, num_rows, width> sums;
  if (add) {
    load_sums<T>(sums, sums_at);
  } else {
    clear_sums<T>(sums);
  }
  for (Index b = 0; b < blocks; ++b) {
    const T* rows[num_rows];
    HWY_UNROLL(8)
    for (int r = 0; r < num_rows; ++r) rows[r] = factors.data + b * factors.block_stride + r * factors.row_stride;
    accumulate<0, width>(rows, factors.step, panel + b * factors.run * panel_step, panel_stride, panel_step,
                         factors.run, sums);
  }
  store_sums<T>(sums, sums_at);
}

template <class T>
void transposed_product(const TransposedProduct<T>& product) {
  constexpr Index group = group_vectors * lanes<T>;
  constexpr int groups_of_row = std::max(1, chains / group_vectors);
  const GateRows<T>& gates = product.gates;
  const Index depth = gates.blocks * gates.run;
  const auto factors = [&](Index block, Index pair) {
    return Factors<T>{gates.data + block * gates.block_stride + pair * gates.pair_stride, gates.block_stride,
                      gates.pair_stride, 1, gates.run};
  };
  Index first = 0;
  if (product.count == 1) {
    for (; first + groups_of_row * group <= product.columns; first += groups_of_row * group) {
      product_tile<group_vectors, 1, groups_of_row>(factors(0, 0), gates.blocks, product.panels + first * depth,
                                                    depth * group, group, true, product.to + first, Index{0});
    }
  }
  for (; first < product.columns; first += group) {
    const Index vectors = std::min(Index{group_vectors}, (product.columns - first + lanes<T> - 1) / lanes<T>);
    const Index panel_step = vectors * lanes<T>;
    const T* const panel = product.panels + first * depth;
    for_each_piece(gates.blocks, std::max(Index{1}, panel_piece<T>(vectors) / gates.run),
                   [&](Index begin, Index end) HWY_ATTR {
                     with_constant<group_vectors>(vectors, [&](auto width) HWY_ATTR {
                       for_each_tile<tile_rows(width.value)>(0, product.count, [&](auto num_rows, Index q) HWY_ATTR {
                         product_tile<width.value, num_rows.value, 1>(
                             factors(begin, q), end - begin, panel + begin * gates.run * panel_step, Index{0},
                             panel_step, true, product.to + q * product.to_stride + first, product.to_stride);
                       });
                     });
                   });
  }
}

// The sums of one block into the public layout.
template <class T>
void store_weight_rows(const WeightProduct<T>& product, Index block) {
  const Tag<T> d;
  const Index column = block * lanes<T>;
  const Index columns = product.hidden - column;
  const Index gates = product.gates.run / lanes<T>;
  const T* sums = product.sums;
  for (Index r = product.row_begin; r < product.row_begin + product.rows; ++r) {
    for (Index g = 0; g < gates; ++g, sums += lanes<T>) {
      const Matrix<T>& kernel = product.kernels[static_cast<std::size_t>(product.order[static_cast<std::size_t>(g)])];
      if (kernel.data == nullptr) continue;
      T* const place = kernel.data + r * kernel.stride + column;
      const Vector<T> sum = hn::Load(d, sums);
      store_some(product.add ? hn::Add(load_some(place, columns), sum) : sum, place, columns);
    }
  }
}

template <class T>
void weight_product(const WeightProduct<T>& product) {
  const GateRows<T>& gates = product.gates;
  for (Index b = 0; b < gates.blocks; ++b) {
    const T* const panel = gates.data + b * gates.block_stride;
    with_constant<group_vectors>(gates.run / lanes<T>, [&](auto width) HWY_ATTR {
      constexpr Index row_size = width.value * lanes<T>;
      for_each_piece(product.pairs, panel_piece<T>(group_vectors), [&](Index begin, Index end) HWY_ATTR {
        for_each_tile<tile_rows(width.value)>(0, product.rows, [&](auto num_rows, Index row) HWY_ATTR {
          product_tile<width.value, num_rows.value, 1>(
              Factors<T>{product.factors + begin * product.stride + row, 0, 1, product.stride, end - begin}, Index{1},
              panel + begin * gates.pair_stride, Index{0}, gates.pair_stride, begin > 0, product.sums + row * row_size,
              row_size);
        });
      });
    });
    store_weight_rows(product, b);
  }
}

template <class T>
void sum_pairs(const T* gates, Index slots, Index pairs, T* sums) {
  const Tag<T> d;
  for (Index s = 0; s < slots; ++s) {
    Vector<T> sum = hn::Zero(d);
    for (Index q = 0; q < pairs; ++q) sum = hn::Add(sum, hn::Load(d, gates + (q * slots + s) * lanes<T>));
    hn::Store(sum, d, sums + s * lanes<T>);
  }
}

template <class Cell, class T>
constexpr BackwardKernels<T> kernels_of_cell{
    &pack_blocks<T>,        &pack_transposed_groups<T>, &retreat_rows<Cell, T>,
    &transposed_product<T>, &weight_product<T>,         &sum_pairs<T>,
};

template <class T>
const BackwardKernels<T>* select_kernels(CellKind kind) {
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

const BackwardKernels<float>* float_backward_kernels(CellKind kind) { return select_kernels<float>(kind); }
const BackwardKernels<double>* double_backward_kernels(CellKind kind) { return select_kernels<double>(kind); }

}  // namespace strata::recurrent::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::recurrent::internal {

HWY_EXPORT(float_backward_kernels);
HWY_EXPORT(double_backward_kernels);

template <>
const BackwardKernels<float>& backward_kernels<float>(CellKind kind) {
  return *STRATA_DISPATCH(float_backward_kernels)(kind);
}

template <>
const BackwardKernels<double>& backward_kernels<double>(CellKind kind) {
  return *STRATA_DISPATCH(double_backward_kernels)(kind);
}

}  // namespace strata::recurrent::internal
#endif
