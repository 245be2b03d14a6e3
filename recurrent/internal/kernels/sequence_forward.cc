// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "strata/recurrent/internal/kernels/kernels.h"
#include "strata/recurrent/internal/kernels/row_groups.h"
#include "strata/recurrent/internal/kernels/sequence.h"
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
    if (count > 0) std::copy_n(from.row(order.row(j)), count, to);
    std::fill(to + count, to + stride, T{0});
  }
}

// Rows without valid steps keep their initial carry.
template <class T>
void store_unprocessed(const RowOrder& order, const T* from, Index hidden, Index stride, const Matrix<T>& to) {
  if (to.data == nullptr) return;
  for (const Index j : order.of_length(0)) std::copy_n(from + j * stride, hidden, to.row(order.row(j)));
}

// What y holds behind the last valid step of each row where the cell does not run there.
template <class T>
void fill_padding(const RowOrder& order, Index hidden, const Matrix<T>& y) {
  if (order.padding() == PaddingOutput::keep || y.data == nullptr) return;
  for (Index j = 0; j < order.rows(); ++j) {
    const Index length = order.length(j);
    for (Index t = length; t < order.extent(j); ++t) {
      T* const to = y.row(order.output_place(j, t));
      if (order.padding() == PaddingOutput::repeat_last && length > 0) {
        std::copy_n(y.row(order.output_place(j, length - 1)), hidden, to);
      } else {
        std::fill_n(to, hidden, T{0});
      }
    }
  }
}

// A forward pass as its row groups see it. Rows are positions in the order.
template <class T>
struct ForwardPass {
  const PackedWeights<T>& weights;
  const RowOrder& order;
  Matrix<const T> x;
  Matrix<T> y;
  CarryView<T> final_carry;
  T* states;         // the initial states of all rows, followed by room for the states to come
  bool keep;         // states and records of all pairs are kept; else the states of even and odd steps alternate
  T* memory;         // [rows, state stride], the initial memory; overwritten step by step
  T* records;        // with `keep`
  bool one_product;  // input and recurrent product together in each step, instead of the input's beforehand
  Matrix<const T> h_mask;

  // The row of `states` where row 0's state after step t starts, -1 standing for the initial state.
  [[nodiscard]] Index state_row(Index t) const noexcept {
    if (!keep) return t % 2 == 0 ? order.rows() : 0;
    return t < 0 ? 0 : order.rows() + order.offset(t);
  }
};

// Pairs whose input product is computed at a time.
constexpr Index projection_pairs = 256;

// The whole sequence of the rows [row_begin, row_end).
template <class T>
class ForwardRows {
 public:
  ForwardRows(const ForwardPass<T>& pass, Index row_begin, Index row_end)
      : pass_(pass), weights_(pass.weights), order_(pass.order), begin_(row_begin), end_(row_end) {
    const auto rows = static_cast<std::size_t>(end_ - begin_);
    y_.resize(rows);
    x_.resize(rows);
    row_numbers_.resize(rows);
    std::iota(row_numbers_.begin(), row_numbers_.end(), Index{0});
    step_sums_.resize(step_sums(weights_, end_ - begin_));
    if (pass_.h_mask.data != nullptr) masked_.resize((end_ - begin_) * weights_.state_stride);
    if (pass_.y.data == nullptr) unwanted_.resize(weights_.shape.hidden);
    if (pass_.one_product) return;
    // A chunk is at least one step, and ends at the latest with the step that fills it.
    const Index capacity = projection_pairs + end_ - begin_;
    x_.resize(static_cast<std::size_t>(capacity));
    places_.resize(static_cast<std::size_t>(capacity));
    if (!pass_.keep) sums_.resize(weights_.blocks * capacity * weights_.layout().slots * weights_.lanes);
    capacity_ = capacity;
  }

  void run() {
    const Index steps = order_.processed_steps();
    for (Index t = 0; t < steps && active(t) > 0;) {
      const Index chunk_end = pass_.one_product ? t + 1 : project(t);
      for (; t < chunk_end; ++t) {
        if (pass_.one_product) fill_x(t, x_.data());
        step(t);
        finish_rows(t);
      }
    }
  }

 private:
  // Rows of this group that step t processes.
  [[nodiscard]] Index active(Index t) const { return std::clamp(order_.active(t) - begin_, Index{0}, end_ - begin_); }

  void fill_x(Index t, const T** x) const {
    for (Index j = begin_; j < begin_ + active(t); ++j) *x++ = pass_.x.row(order_.input_place(j, t));
  }

  // Sums and records share their memory when records are kept: a step's sums are read before its record is written.
  [[nodiscard]] BlockedRows<T> sums() {
    if (pass_.keep) return records();
    const Index size = weights_.layout().slots * weights_.lanes;
    return {sums_.data(), capacity_ * size, size};
  }
  [[nodiscard]] BlockedRows<T> records() const {
    const Index size = weights_.layout().saved * weights_.lanes;
    return {pass_.records, order_.pairs() * size, size};
  }

  // The input products of step `t` and those after it, until there are enough; returns the first step that was left
  // out.
  Index project(Index t) {
    Index count = 0;
    for (; t < order_.processed_steps() && count < projection_pairs; ++t) {
      fill_x(t, x_.data() + count);
      for (Index j = 0; j < active(t); ++j) {
        places_[static_cast<std::size_t>(count + j)] = pass_.keep ? order_.offset(t) + begin_ + j : count + j;
      }
      count += active(t);
    }
    weights_.forward->project({weights_, count, x_.data(), places_.data(), sums()});
    next_sums_ = 0;
    return t;
  }

  void step(Index t) {
    const Index rows = active(t);
    for (Index j = 0; j < rows; ++j) {
      y_[static_cast<std::size_t>(j)] =
          pass_.y.data == nullptr ? unwanted_.data() : pass_.y.row(order_.output_place(begin_ + j, t));
    }
    const Index stride = weights_.state_stride;
    StepRows<T> step{weights_,
                     rows,
                     pass_.one_product ? x_.data() : nullptr,
                     y_.data(),
                     pass_.states + (pass_.state_row(t - 1) + begin_) * stride,
                     pass_.states + (pass_.state_row(t) + begin_) * stride,
                     weights_.layout().has_memory ? pass_.memory + begin_ * stride : nullptr,
                     0,
                     weights_.blocks,
                     t % 2 != 0,
                     row_numbers_.data(),
                     step_sums_.data()};
    const Index pair = order_.offset(t) + begin_;
    if (pass_.keep) {
      step.record = records();
      step.record.data = step.record.at(0, pair);
    }
    if (!pass_.one_product) {
      const BlockedRows<T> start = sums();
      step.start = {start.at(0, pass_.keep ? pair : next_sums_), start.block_stride, start.row_stride};
      next_sums_ += rows;
    }
    if (pass_.h_mask.data != nullptr) step.product_h = masked(step.h_before, rows);
    weights_.forward->step(step);
  }

  // States as they enter the recurrent product.
  const T* masked(const T* states, Index rows) {
    T* to = masked_.data();
    for (Index j = begin_; j < begin_ + rows; ++j, states += weights_.state_stride, to += weights_.state_stride) {
      const T* const mask = pass_.h_mask.data + order_.row(j) * pass_.h_mask.stride;
      std::transform(states, states + weights_.shape.hidden, mask, to, std::multiplies<>());
    }
    return masked_.data();
  }

  // The carry of rows whose last valid step was t.
  void finish_rows(Index t) const {
    const Index stride = weights_.state_stride;
    for (const Index j : order_.of_length(t + 1)) {
      if (j < begin_ || j >= end_) continue;
      const auto copy = [&](const T* from, const Matrix<T>& to) {
        if (to.data != nullptr) std::copy_n(from, weights_.shape.hidden, to.row(order_.row(j)));
      };
      copy(pass_.states + (pass_.state_row(t) + j) * stride, pass_.final_carry.h);
      if (weights_.layout().has_memory) copy(pass_.memory + j * stride, pass_.final_carry.c);
    }
  }

  const ForwardPass<T>& pass_;
  const PackedWeights<T>& weights_;
  const RowOrder& order_;
  Index begin_, end_;
  Index capacity_ = 0;
  Index next_sums_ = 0;
  std::vector<const T*> x_;
  std::vector<T*> y_;
  std::vector<Index> row_numbers_;
  std::vector<Index> places_;
  AlignedArray<T> sums_;
  AlignedArray<T> step_sums_;
  AlignedArray<T> masked_;
  AlignedArray<T> unwanted_;  // takes the outputs of all rows where y is absent
};

}  // namespace

template <class T>
void forward(const PackedWeights<T>& weights, const SequenceShape& shape, Matrix<const T> x,
             const CarryView<const T>& initial, Matrix<T> y, const CarryView<T>& final_carry, Tape<T>* tape,
             Matrix<const T> h_mask) {
  Tape<T> unkept;
  Tape<T>& t = tape != nullptr ? *tape : unkept;
  t.order = RowOrder(shape);
  t.h_mask = h_mask;
  const RowOrder& order = t.order;
  const Index hidden = weights.shape.hidden;
  const Index stride = weights.state_stride;
  const Index rows = order.rows();
  t.states.resize((rows + (tape != nullptr ? order.pairs() : rows)) * stride);
  if (tape != nullptr) t.records.resize(order.pairs() * weights.layout().saved * weights.blocks * weights.lanes);
  AlignedArray<T> memory;
  load_rows(order, initial.h, hidden, stride, t.states.data());
  if (weights.layout().has_memory) {
    memory.resize(rows * stride);
    load_rows(order, initial.c, hidden, stride, memory.data());
    store_unprocessed(order, memory.data(), hidden, stride, final_carry.c);
  }
  store_unprocessed(order, t.states.data(), hidden, stride, final_carry.h);

  const RowGroups groups(order, weights.forward->row_tile, pair_operations(weights.shape));
  const ForwardPass<T> pass{weights,
                            order,
                            x,
                            y,
                            final_carry,
                            t.states.data(),
                            tape != nullptr,
                            memory.data(),
                            t.records.data(),
                            one_product_pays(weights, rows / groups.count()),
                            h_mask};
  groups.for_each([&](Index begin, Index end) { ForwardRows<T>(pass, begin, end).run(); });
  fill_padding(order, hidden, y);
}

template void forward(const PackedWeights<float>&, const SequenceShape&, Matrix<const float>,
                      const CarryView<const float>&, Matrix<float>, const CarryView<float>&, Tape<float>*,
                      Matrix<const float>);
template void forward(const PackedWeights<double>&, const SequenceShape&, Matrix<const double>,
                      const CarryView<const double>&, Matrix<double>, const CarryView<double>&, Tape<double>*,
                      Matrix<const double>);

}  // namespace strata::recurrent::internal
