// SPDX-License-Identifier: Apache-2.0

// The backward pass of a chunk of steps: the gradients of the pre-activations, step by step from the last to the first,
// then the products that turn them into gradients of the input and of the weights.

#include "strata/recurrent/internal/packing-inl.h"

#if defined(STRATA_RECURRENT_INTERNAL_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_RECURRENT_INTERNAL_BACKWARD_INL_H_
#undef STRATA_RECURRENT_INTERNAL_BACKWARD_INL_H_
#else
#define STRATA_RECURRENT_INTERNAL_BACKWARD_INL_H_
#endif

#include <vector>

#include "strata/recurrent/internal/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace strata::recurrent::internal::HWY_NAMESPACE {

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

// Row q of `to` += row q of `gates`, 0 <= q < count, times transposed panels with `columns` columns in all. `to` has
// room for whole vectors.
template <class T>
HWY_NOINLINE void transposed_product(const GateRows<T>& gates, Index count, const T* panels, Index columns, T* to,
                                     Index to_stride) {
  constexpr Index group = group_vectors * lanes<T>;
  constexpr int groups_of_row = std::max(1, chains / group_vectors);
  const Index depth = gates.blocks * gates.run;
  Index first = 0;
  if (count == 1) {
    for (; first + groups_of_row * group <= columns; first += groups_of_row * group) {
      transposed_tile<group_vectors, 1, groups_of_row>(gates, 0, panels + first * depth, 0, gates.blocks, to + first,
                                                       0);
    }
  }
  for (; first < columns; first += group) {
    const Index vectors = std::min(Index{group_vectors}, (columns - first + lanes<T> - 1) / lanes<T>);
    const T* const panel = panels + first * depth;
    for_each_piece(gates.blocks, std::max(Index{1}, panel_piece<T>(vectors) / gates.run),
                   [&](Index begin, Index end) HWY_ATTR {
                     with_constant<group_vectors>(vectors, [&](auto width) HWY_ATTR {
                       for_each_tile<tile_rows(width.value)>(0, count, [&](auto num_rows, Index q) HWY_ATTR {
                         transposed_tile<width.value, num_rows.value, 1>(gates, q, panel, begin, end,
                                                                         to + q * to_stride + first, to_stride);
                       });
                     });
                   });
  }
}

// The gate gradients of one side, from pair `pair` of the chunk on.
template <class Cell, class T>
HWY_INLINE GateRows<T> gate_rows(const BackwardChunk<T>& chunk, Side side, Index pair) {
  constexpr CellLayout layout = Cell::layout;
  constexpr Index pair_stride = layout.slots * lanes<T>;
  const int slot = side == Side::input ? layout.input_begin : layout.recurrent_begin;
  return {chunk.gates + pair * pair_stride + slot * lanes<T>, chunk.capacity * pair_stride, pair_stride,
          chunk.weights.blocks, layout.gates * lanes<T>};
}

// Adds the cotangents that enter where row j ends: those of the final carry, and of the outputs that repeat its last
// one.
template <class Cell, class T>
void enter_final_cotangents(const BackwardChunk<T>& chunk, Index j) {
  const RowOrder& order = chunk.tape.order;
  const Index hidden = chunk.weights.shape.hidden;
  const auto add = [&](const T* from, T* to) {
    for (Index u = 0; u < hidden; ++u) to[u] += from[u];
  };
  const auto& [h, c] = chunk.cotangents.carry;
  const Index row = order.row(j);
  T* const dh = chunk.state_gradient + j * chunk.weights.state_stride;
  if (h.data != nullptr) add(h.data + row * h.stride, dh);
  if (Cell::layout.has_memory && c.data != nullptr) {
    add(c.data + row * c.stride, chunk.memory_gradient + j * chunk.weights.state_stride);
  }
  const auto& y = chunk.cotangents.y;
  if (order.padding() != Padding::repeat_last || y.data == nullptr || order.length(j) == 0) return;
  for (Index t = order.length(j); t < order.steps(); ++t) {
    add(y.data + row * y.row_stride + order.output_step(j, t) * y.step_stride, dh);
  }
}

// Gradients of the pre-activations of rows [row_begin, row_end) at step t, from the gradient of the state after it. dy
// holds the rows' cotangents of y, or null.
template <class Cell, class T>
void retreat_rows(const BackwardChunk<T>& chunk, Index t, Index row_begin, Index row_end, const T* const* dy) {
  constexpr CellLayout layout = Cell::layout;
  constexpr Index record_size = layout.saved * lanes<T>;
  constexpr Index gates_size = layout.slots * lanes<T>;
  const Tag<T> d;
  const RowOrder& order = chunk.tape.order;
  const PackedWeights<T>& weights = chunk.weights;
  const Index hidden = weights.shape.hidden;
  const Index first_pair = chunk.offsets[t - chunk.begin];
  for (Index b = 0; b < weights.blocks; ++b) {
    const Index unit = b * lanes<T>;
    const T* record = chunk.tape.records.data() + (b * order.pairs() + order.offset(t) + row_begin) * record_size;
    T* gates = chunk.gates + (b * chunk.capacity + first_pair + row_begin) * gates_size;
    for (Index j = row_begin; j < row_end; ++j, record += record_size, gates += gates_size) {
      if (t >= chunk.live_steps[j]) {
        std::fill_n(gates, gates_size, T{0});
        continue;
      }
      const Index place = j * weights.state_stride + unit;
      Vector<T> dh = hn::Load(d, chunk.state_gradient + place);
      if (dy[j] != nullptr) dh = hn::Add(dh, load_some(dy[j] + unit, hidden - unit));
      T* const dc = layout.has_memory ? chunk.memory_gradient + place : nullptr;
      const UnitGradients<T> at{chunk.h[first_pair + j] + unit, record, dc, gates};
      hn::Store(Cell::template retreat<T>(weights.shape.kind, dh, at), d, chunk.state_gradient + place);
    }
  }
}

template <class Cell, class T>
void backward_rows(const BackwardChunk<T>& chunk, Index row_begin, Index row_end) {
  const RowOrder& order = chunk.tape.order;
  const PackedWeights<T>& weights = chunk.weights;
  const auto& y = chunk.cotangents.y;
  const bool initial_wanted = chunk.gradients.initial.h.data != nullptr || chunk.gradients.initial.c.data != nullptr;
  std::vector<const T*> dy(static_cast<std::size_t>(row_end));
  for (Index t = chunk.end - 1; t >= chunk.begin; --t) {
    const Index last_ending = std::min(order.longer(t), row_end);
    for (Index j = std::max(order.longer(t + 1), row_begin); j < last_ending; ++j)
      enter_final_cotangents<Cell>(chunk, j);
    const Index live_end = std::min(chunk.live_rows(t), row_end);
    if (live_end <= row_begin) continue;
    for (Index j = row_begin; j < live_end && y.data != nullptr; ++j) {
      dy[static_cast<std::size_t>(j)] = y.data + order.row(j) * y.row_stride + order.output_step(j, t) * y.step_stride;
    }
    retreat_rows<Cell>(chunk, t, row_begin, live_end, dy.data());
    if (t == 0 && !initial_wanted) continue;
    const GateRows<T> gates = gate_rows<Cell>(chunk, Side::recurrent, chunk.offsets[t - chunk.begin] + row_begin);
    transposed_product(gates, live_end - row_begin, weights.transposed_recurrent.data(), weights.shape.hidden,
                       chunk.state_gradient + row_begin * weights.state_stride, weights.state_stride);
  }
}

// Columns of the input's gradient that are computed at a time, before they go where the caller keeps them.
template <class T>
constexpr Index input_gradient_columns = 16 * lanes<T>;

template <class Cell, class T>
void input_gradient(const BackwardChunk<T>& chunk, Index pair_begin, Index pair_end) {
  const Index inputs = chunk.weights.shape.input;
  const Index width = std::min(input_gradient_columns<T>, (inputs + lanes<T> - 1) / lanes<T> * lanes<T>);
  const GateRows<T> gates = gate_rows<Cell>(chunk, Side::input, pair_begin);
  AlignedArray<T> result((pair_end - pair_begin) * width);
  for (Index first = 0; first < inputs; first += width) {
    const Index columns = std::min(width, inputs - first);
    result.fill_zero();
    transposed_product(gates, pair_end - pair_begin,
                       chunk.weights.transposed_input.data() + first * gates.blocks * gates.run, columns, result.data(),
                       width);
    for (Index q = pair_begin; q < pair_end; ++q) {
      std::copy_n(result.data() + (q - pair_begin) * width, columns, chunk.x_gradient[q] + first);
    }
  }
}

// Copies the columns [begin, end) of `count` rows side by side, `stride` apart; null rows count as zero.
template <class T>
void gather_rows(const T* const* rows, Index count, Index begin, Index end, Index stride, T* to) {
  for (Index q = 0; q < count; ++q, to += stride) {
    if (rows[q] == nullptr) {
      std::fill_n(to, end - begin, T{0});
    } else {
      std::copy(rows[q] + begin, rows[q] + end, to);
    }
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
  for (int r = 0; r < num_rows; ++r) {
    rows[r] = factors + r;
    HWY_UNROLL(4)
    for (int g = 0; g < gates; ++g) sums[0][r][g] = hn::Zero(Tag<T>());
  }
  if (add) load_sums<T>(sums, sums_at);
  accumulate<0, gates>(rows, stride, panel, 0, pair_stride, pairs, sums);
  store_sums<T>(sums, sums_at);
}

// Where the gradients of one side's kernels go, by slot, and whether they are added to what is there.
template <class T>
struct KernelGradients {
  const std::array<Matrix<T>, 4>& kernels;
  const std::array<int, 4>& gates;
  bool add;
};

// Rows of weight gradients, [row][gate][lanes], into the public layout.
template <class Cell, class T>
void store_weight_rows(const KernelGradients<T>& to, Index row_begin, Index row_end, Index column, Index columns,
                       const T* sums) {
  const Tag<T> d;
  for (Index r = row_begin; r < row_end; ++r) {
    for (int g = 0; g < Cell::layout.gates; ++g, sums += lanes<T>) {
      const Matrix<T>& kernel = to.kernels[static_cast<std::size_t>(to.gates[static_cast<std::size_t>(g)])];
      if (kernel.data == nullptr) continue;
      T* const place = kernel.data + r * kernel.stride + column;
      const Vector<T> sum = hn::Load(d, sums);
      store_some(to.add ? hn::Add(load_some(place, columns), sum) : sum, place, columns);
    }
  }
}

// Rows of the kernels' gradients that are computed at a time: their factors and sums stay in the second cache.
constexpr Index weight_rows = 48;

// Rows [row_begin, row_end) of the gradients of one side's kernels: sums over the pairs of the chunk of x (or the
// state) times the gate gradients.
template <class Cell, class T>
void weight_gradient(const BackwardChunk<T>& chunk, Side side, Index row_begin, Index row_end) {
  constexpr CellLayout layout = Cell::layout;
  constexpr Index row_size = layout.gates * lanes<T>;
  const bool is_input = side == Side::input;
  const KernelGradients<T> to{is_input ? chunk.gradients.weights.input : chunk.gradients.weights.recurrent,
                              is_input ? Cell::layout.input_gate : Cell::layout.recurrent_gate, chunk.add};
  const GateRows<T> gates = gate_rows<Cell>(chunk, side, 0);
  // An odd number of cache lines apart, so that a column of rows spreads over the cache.
  constexpr Index line = Index{64} / static_cast<Index>(sizeof(T));
  const Index stride = ((std::min(weight_rows, row_end - row_begin) + line - 1) / line | 1) * line;
  AlignedArray<T> factors(chunk.pairs() * stride);
  AlignedArray<T> sums(weight_rows * row_size);
  for (Index first = row_begin; first < row_end; first += weight_rows) {
    const Index last = std::min(first + weight_rows, row_end);
    gather_rows(is_input ? chunk.x : chunk.h, chunk.pairs(), first, last, stride, factors.data());
    for (Index b = 0; b < gates.blocks; ++b) {
      const T* const panel = gates.data + b * gates.block_stride;
      for_each_piece(chunk.pairs(), panel_piece<T>(layout.slots), [&](Index begin, Index end) HWY_ATTR {
        for_each_tile<tile_rows(layout.gates)>(0, last - first, [&](auto num_rows, Index row) HWY_ATTR {
          weight_tile<Cell::layout.gates, num_rows.value>(factors.data() + begin * stride + row, stride,
                                                          panel + begin * gates.pair_stride, gates.pair_stride,
                                                          end - begin, begin > 0, sums.data() + row * row_size);
        });
      });
      store_weight_rows<Cell>(to, first, last, b * lanes<T>, chunk.weights.shape.hidden - b * lanes<T>, sums.data());
    }
  }
}

template <class Cell, class T>
void bias_gradient(const BackwardChunk<T>& chunk) {
  constexpr CellLayout layout = Cell::layout;
  const Tag<T> d;
  for (Index b = 0; b < chunk.weights.blocks; ++b) {
    const Index unit = b * lanes<T>;
    const Index columns = chunk.weights.shape.hidden - unit;
    const T* gates = chunk.gates + b * chunk.capacity * layout.slots * lanes<T>;
    Vector<T> sums[layout.slots];
    HWY_UNROLL(4)
    for (int s = 0; s < layout.slots; ++s) sums[s] = hn::Zero(d);
    for (Index q = 0; q < chunk.pairs(); ++q, gates += layout.slots * lanes<T>) {
      HWY_UNROLL(4)
      for (int s = 0; s < layout.slots; ++s) sums[s] = hn::Add(sums[s], hn::Load(d, gates + s * lanes<T>));
    }
    const auto add_to = [&](T* bias, Vector<T> sum) HWY_ATTR {
      if (bias == nullptr) return;
      const Vector<T> before = chunk.add ? load_some(bias + unit, columns) : hn::Zero(d);
      store_some(hn::Add(before, sum), bias + unit, columns);
    };
    HWY_UNROLL(4)
    for (int g = 0; g < layout.gates; ++g) {
      const auto i = static_cast<std::size_t>(g);
      const auto& weights = chunk.gradients.weights;
      add_to(weights.input_bias[static_cast<std::size_t>(layout.input_gate[i])], sums[layout.input_begin + g]);
      add_to(weights.recurrent_bias[static_cast<std::size_t>(layout.recurrent_gate[i])],
             sums[layout.recurrent_begin + g]);
    }
  }
}

}  // namespace strata::recurrent::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
