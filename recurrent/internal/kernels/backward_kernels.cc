// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "strata/recurrent/internal/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/recurrent/internal/kernels/backward_kernels.cc"
#include "strata/recurrent/internal/kernels/cells-inl.h"
#include "strata/recurrent/internal/kernels/packing-inl.h"

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

// to[r] += rows r of `gates`, as far as they lie in blocks [block_begin, block_end), times transposed panels `width`
// vectors wide: one, or several side by side.
template <int width, int num_rows, int num_panels, class T>
HWY_NOINLINE void transposed_tile(const GateRows<T>& gates, Index pair, const T* panel, Index block_begin,
                                  Index block_end, T* to, Index to_stride) {
  constexpr Index panel_step = width * lanes<T>;
  const Index panel_stride = gates.blocks * gates.run * panel_step;
  const auto sums_at = [&](int p, int r) { return to + r * to_stride + p * panel_step; };
  Sums<T, num_panels, num_rows, width> sums;
  load_sums<T>(sums, sums_at);
  for (Index b = block_begin; b < block_end; ++b) {
    const T* rows[num_rows];
    HWY_UNROLL(8)
    for (int r = 0; r < num_rows; ++r) rows[r] = gates.data + b * gates.block_stride + (pair + r) * gates.pair_stride;
    accumulate<0, width>(rows, 1, panel + b * gates.run * panel_step, panel_stride, panel_step, gates.run, sums);
  }
  store_sums<T>(sums, sums_at);
}

template <class T>
void transposed_product(const TransposedProduct<T>& product) {
  constexpr Index group = group_vectors * lanes<T>;
  constexpr int groups_of_row = std::max(1, chains / group_vectors);
  const GateRows<T>& gates = product.gates;
  const Index depth = gates.blocks * gates.run;
  Index first = 0;
  if (product.count == 1) {
    for (; first + groups_of_row * group <= product.columns; first += groups_of_row * group) {
      transposed_tile<group_vectors, 1, groups_of_row>(gates, 0, product.panels + first * depth, 0, gates.blocks,
                                                       product.to + first, 0);
    }
  }
  for (; first < product.columns; first += group) {
    const Index vectors = std::min(Index{group_vectors}, (product.columns - first + lanes<T> - 1) / lanes<T>);
    const T* const panel = product.panels + first * depth;
    for_each_piece(
        gates.blocks, std::max(Index{1}, panel_piece<T>(vectors) / gates.run), [&](Index begin, Index end) HWY_ATTR {
          with_constant<group_vectors>(vectors, [&](auto width) HWY_ATTR {
            for_each_tile<tile_rows(width.value)>(0, product.count, [&](auto num_rows, Index q) HWY_ATTR {
              transposed_tile<width.value, num_rows.value, 1>(
                  gates, q, panel, begin, end, product.to + q * product.to_stride + first, product.to_stride);
            });
          });
        });
  }
}

// sums[r][g] = sum over pairs q of factors[q * stride + r] * vector g of pair q of a panel of gate gradients; with
// `add` it is added.
template <int gates, int num_rows, class T>
HWY_NOINLINE void weight_tile(const T* factors, Index stride, const T* panel, Index pair_stride, Index pairs, bool add,
                              T* to) {
  const auto sums_at = [&](int, int r) { return to + r * gates * lanes<T>; };
  Sums<T, 1, num_rows, gates> sums;
  const T* rows[num_rows];
  HWY_UNROLL(8)
  for (int r = 0; r < num_rows; ++r) rows[r] = factors + r;
  clear_sums<T>(sums);
  if (add) load_sums<T>(sums, sums_at);
  accumulate<0, gates>(rows, stride, panel, 0, pair_stride, pairs, sums);
  store_sums<T>(sums, sums_at);
}

// The sums of one block into the public layout.
template <class T>
void store_weight_rows(const WeightProduct<T>& product, Index block) {
  const Tag<T> d;
  const Index column = block * lanes<T>;
  const Index columns = product.hidden - column;
  for (Index g = 0; g * lanes<T> < product.gates.run; ++g) {
    const Matrix<T>& kernel = product.kernels[static_cast<std::size_t>(product.order[static_cast<std::size_t>(g)])];
    if (kernel.data == nullptr) continue;
    const T* sums = product.sums + g * lanes<T>;
    T* to = kernel.data + product.row_begin * kernel.stride + column;
    for (Index r = 0; r < product.rows; ++r, sums += product.gates.run, to += kernel.stride) {
      const Vector<T> sum = hn::Load(d, sums);
      store_some(product.add ? hn::Add(load_some(to, columns), sum) : sum, to, columns);
    }
  }
}

template <class T>
void weight_product(const WeightProduct<T>& product) {
  const GateRows<T>& gates = product.gates;
  for (Index b = 0; b < gates.blocks; ++b) {
    const T* const panel = gates.data + b * gates.block_stride;
    with_constant<group_vectors>(gates.run / lanes<T>, [&](auto width) HWY_ATTR {
      for_each_piece(product.pairs, panel_piece<T>(group_vectors), [&](Index begin, Index end) HWY_ATTR {
        for_each_tile<tile_rows(width.value)>(0, product.rows, [&](auto num_rows, Index row) HWY_ATTR {
          weight_tile<width.value, num_rows.value>(product.factors + begin * product.stride + row, product.stride,
                                                   panel + begin * gates.pair_stride, gates.pair_stride, end - begin,
                                                   begin > 0, product.sums + row * gates.run);
        });
      });
    });
    store_weight_rows(product, b);
  }
}

template <class T>
void sum_pairs(const T* gates, Index slots, Index pairs, T* to) {
  with_constant<4>(slots, [&](auto width) HWY_ATTR {
    Sums<T, 1, 1, width.value> sums;
    clear_sums<T>(sums);
    for (Index q = 0; q < pairs; ++q, gates += width.value * lanes<T>) {
      HWY_UNROLL(4)
      for (int s = 0; s < width.value; ++s)
        sums[0][0][s] = hn::Add(sums[0][0][s], hn::Load(Tag<T>(), gates + s * lanes<T>));
    }
    store_sums<T>(sums, [&](int, int) { return to; });
  });
}

namespace {

template <class Cell, class T>
constexpr BackwardKernels<T> kernels_of_cell{
    &pack_transposed_groups<T>, &retreat_rows<Cell, T>, &transposed_product<T>, &weight_product<T>, &sum_pairs<T>,
};

template <class T>
const BackwardKernels<T>* select_kernels(CellKind kind) {
  return with_cell(kind, []<class Cell>(Cell) { return &kernels_of_cell<Cell, T>; });
}

}  // namespace

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
