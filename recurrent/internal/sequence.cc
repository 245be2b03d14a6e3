// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/sequence.h"

#include <algorithm>
#include <vector>

#include "strata/recurrent/internal/kernels.h"
#include "strata/recurrent/internal/row_groups.h"
#include "strata/tensor/thread_pool.h"

namespace strata::recurrent::internal {
namespace {

// Both products of a step in one tile, from so many rows on and while the weights take at most this much of the second
// cache.
constexpr Index one_product_rows = 24;
constexpr Index one_product_bytes = Index{160} << 10;

template <class T>
bool one_product_pays(const PackedWeights<T>& weights, Index rows) {
  const Index bytes = (weights.input.size() + weights.recurrent.size()) * static_cast<Index>(sizeof(T));
  return rows >= one_product_rows && bytes <= one_product_bytes;
}

// The initial carry's rows in the order of processing, each `stride` long and filled up with zeros.
template <class T>
void load_rows(const RowOrder& order, const Matrix<const T>& from, Index hidden, Index stride, T* to) {
  for (Index j = 0; j < order.rows(); ++j, to += stride) {
    const Index count = from.data != nullptr ? hidden : 0;
    if (count > 0) std::copy_n(from.data + order.row(j) * from.stride, count, to);
    std::fill(to + count, to + stride, T{0});
  }
}

// Rows from `first` on go back to where the caller keeps them.
template <class T>
void store_rows(const RowOrder& order, Index first, const T* from, Index hidden, Index stride, const Matrix<T>& to) {
  if (to.data == nullptr) return;
  for (Index j = first; j < order.rows(); ++j)
    std::copy_n(from + j * stride, hidden, to.data + order.row(j) * to.stride);
}

// What y holds behind the last valid step of each row where the cell does not run there.
template <class T>
void fill_padding(const RowOrder& order, Index hidden, const SequenceView<T>& y) {
  if (order.padding() == Padding::compute) return;
  for (Index j = order.longer(order.steps() - 1); j < order.rows(); ++j) {
    const auto at = [&](Index t) {
      return y.data + order.row(j) * y.row_stride + order.output_step(j, t) * y.step_stride;
    };
    const Index length = order.length(j);
    for (Index t = length; t < order.steps(); ++t) {
      if (order.padding() == Padding::repeat_last && length > 0) {
        std::copy_n(at(length - 1), hidden, at(t));
      } else {
        std::fill_n(at(t), hidden, T{0});
      }
    }
  }
}

}  // namespace

template <class T>
void forward(const PackedWeights<T>& weights, const SequenceShape& shape, SequenceView<const T> x,
             const CarryView<const T>& initial, SequenceView<T> y, const CarryView<T>& final_carry, Tape<T>* tape) {
  Tape<T> unkept;
  Tape<T>& t = tape != nullptr ? *tape : unkept;
  t.order = RowOrder(shape);
  const RowOrder& order = t.order;
  const Index hidden = weights.shape.hidden;
  const Index stride = weights.state_stride;
  const Index rows = shape.rows;
  t.states.resize((rows + (tape != nullptr ? order.pairs() : rows)) * stride);
  if (tape != nullptr) t.records.resize(order.pairs() * weights.layout().saved * weights.blocks * weights.lanes);
  AlignedArray<T> memory;
  load_rows(order, initial.h, hidden, stride, t.states.data());
  if (weights.layout().has_memory) {
    memory.resize(rows * stride);
    load_rows(order, initial.c, hidden, stride, memory.data());
    store_rows(order, order.longer(0), memory.data(), hidden, stride, final_carry.c);
  }
  store_rows(order, order.longer(0), t.states.data(), hidden, stride, final_carry.h);

  const RowGroups groups(order, weights.kernels->row_tile, pair_operations(weights.shape));
  const ForwardPass<T> pass{weights,
                            order,
                            x,
                            y,
                            final_carry,
                            t.states.data(),
                            tape != nullptr,
                            memory.data(),
                            t.records.data(),
                            one_product_pays(weights, rows / groups.count())};
  groups.for_each([&](Index begin, Index end) { weights.kernels->forward_rows(pass, begin, end); });
  if (order.steps() > 0) fill_padding(order, hidden, y);
}

template void forward(const PackedWeights<float>&, const SequenceShape&, SequenceView<const float>,
                      const CarryView<const float>&, SequenceView<float>, const CarryView<float>&, Tape<float>*);
template void forward(const PackedWeights<double>&, const SequenceShape&, SequenceView<const double>,
                      const CarryView<const double>&, SequenceView<double>, const CarryView<double>&, Tape<double>*);

}  // namespace strata::recurrent::internal
