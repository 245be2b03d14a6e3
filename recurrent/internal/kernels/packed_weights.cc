// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/kernels/packed_weights.h"

#include <algorithm>

#include "strata/recurrent/internal/kernels/kernels.h"
#include "strata/tensor/thread_pool.h"

namespace strata::recurrent::internal {
namespace {

// Numbers that one thread packs at least.
constexpr Index pack_grain = 1 << 15;

Index round_up(Index value, Index multiple) { return (value + multiple - 1) / multiple * multiple; }

// Calls pack_range(begin, end) over `count` equal parts of an array of `size` numbers.
template <class F>
void for_parts(Index count, Index size, const F& pack_range) {
  if (count == 0) return;
  const Index part = std::max(Index{1}, size / count);
  parallel_for(0, count, std::max(Index{1}, pack_grain / part), pack_range);
}

}  // namespace

template <class T>
PackedWeights<T>::PackedWeights(const CellShape& cell)
    : shape(cell),
      cell_layout(&layout_of(cell.kind)),
      forward(&forward_kernels<T>(cell.kind)),
      backward(&backward_kernels<T>(cell.kind)),
      lanes(forward->lanes),
      blocks((cell.hidden + lanes - 1) / lanes),
      state_stride(blocks * lanes) {
  constexpr Index line = Index{64} / static_cast<Index>(sizeof(T));
  state_stride = round_up(state_stride, line);
  if (state_stride % (4 * line) == 0) state_stride += line;
}

template <class T>
void pack(PackedWeights<T>& packed, const GateArrays<const T>& weights) {
  const Index padded = packed.blocks * packed.lanes;
  const auto& layout = packed.layout();
  packed.input.resize(packed.shape.input * layout.gates * padded);
  packed.recurrent.resize(packed.shape.hidden * layout.gates * padded);
  packed.bias.resize(layout.slots * padded);
  for_parts(packed.blocks, packed.input.size() + packed.recurrent.size(),
            [&](Index begin, Index end) { packed.forward->pack(packed, weights, begin, end); });
}

template <class T>
void pack_transposed(PackedWeights<T>& packed, const GateArrays<const T>& weights) {
  const Index depth = packed.blocks * packed.lanes * packed.layout().gates;
  const auto pack_side = [&](AlignedArray<T>& panels, Side side, Index rows) {
    panels.resize(round_up(rows, packed.lanes) * depth);
    const Index group = 4 * packed.lanes;
    for_parts((rows + group - 1) / group, panels.size(),
              [&](Index begin, Index end) { packed.backward->pack_transposed(packed, weights, side, begin, end); });
  };
  pack_side(packed.transposed_input, Side::input, packed.shape.input);
  pack_side(packed.transposed_recurrent, Side::recurrent, packed.shape.hidden);
}

template struct PackedWeights<float>;
template struct PackedWeights<double>;
template void pack(PackedWeights<float>&, const GateArrays<const float>&);
template void pack(PackedWeights<double>&, const GateArrays<const double>&);
template void pack_transposed(PackedWeights<float>&, const GateArrays<const float>&);
template void pack_transposed(PackedWeights<double>&, const GateArrays<const double>&);

}  // namespace strata::recurrent::internal
