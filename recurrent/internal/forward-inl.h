// SPDX-License-Identifier: Apache-2.0

// The forward pass of a group of rows, and the step of a stream.

#include "strata/recurrent/internal/packing-inl.h"

#if defined(STRATA_RECURRENT_INTERNAL_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_RECURRENT_INTERNAL_FORWARD_INL_H_
#undef STRATA_RECURRENT_INTERNAL_FORWARD_INL_H_
#else
#define STRATA_RECURRENT_INTERNAL_FORWARD_INL_H_
#endif

#include <vector>

#include "strata/recurrent/internal/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace strata::recurrent::internal::HWY_NAMESPACE {

// Sums that a step starts from, or the records that it leaves: at data + block * block_stride + row * row_stride.
template <class T>
struct BlockedRows {
  T* data = nullptr;
  Index block_stride = 0;
  Index row_stride = 0;

  [[nodiscard]] T* at(Index block, Index row) const noexcept {
    return data == nullptr ? nullptr : data + block * block_stride + row * row_stride;
  }
};

// One step of `rows` rows in the blocks [block_begin, block_end). Without `x` the sums start from `start`, which holds
// bias and input product; else from the bias. Weights that are larger than a cache are swept upwards and downwards in
// turns, so that each sweep begins with what the last one left there.
template <class T>
struct StepRows {
  const PackedWeights<T>& weights;
  Index rows;
  const T* const* x;
  T* const* y;
  const T* h_before;
  T* h;
  T* memory;
  Index block_begin;
  Index block_end;
  bool downwards;
  T* sums;  // room for [rows or `chains`][slot][lanes]
  BlockedRows<T> start = {};
  BlockedRows<T> record = {};
};

// Numbers that a step keeps between its products and its gate functions.
template <class Cell, class T>
constexpr Index sums_size(Index rows) {
  return std::max(rows, Index{chains}) * Cell::layout.slots * lanes<T>;
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

// The products of rows of x and of h, side by side, with rows [begin, end) of the panels of both, one upon the other.
// The sums start from what the step starts from if begin is 0, else from step.sums; they go there.
template <class Cell, int num_rows, int num_panels, class T>
HWY_NOINLINE void step_tile(const StepRows<T>& step, Index block, Index row, Index begin, Index end) {
  constexpr CellLayout layout = Cell::layout;
  constexpr Index panel_step = layout.gates * lanes<T>;
  constexpr Index row_size = layout.slots * lanes<T>;
  const PackedWeights<T>& weights = step.weights;
  const auto sums_at = [&](int p, int r) { return step.sums + (p * step.rows + row + r) * row_size; };
  Sums<T, num_panels, num_rows, layout.slots> sums;
  if (begin > 0) {
    load_sums<T>(sums, sums_at);
  } else if (step.x != nullptr) {
    load_sums<T>(sums, [&](int p, int) { return weights.bias.data() + (block + p) * row_size; });
  } else {
    load_sums<T>(sums, [&](int p, int r) { return step.start.at(block + p, row + r); });
  }
  const T* rows[num_rows];
  const Index inputs = step.x != nullptr ? weights.shape.input : 0;
  if (begin < inputs) {
    for (int r = 0; r < num_rows; ++r) rows[r] = step.x[row + r] + begin;
    accumulate<layout.input_begin, layout.gates>(rows, 1, weights.input.data() + (block * inputs + begin) * panel_step,
                                                 inputs * panel_step, panel_step, std::min(end, inputs) - begin, sums);
  }
  if (end > inputs) {
    const Index first = std::max(begin - inputs, Index{0});
    const Index hidden = weights.shape.hidden;
    for (int r = 0; r < num_rows; ++r) rows[r] = step.h_before + (row + r) * weights.state_stride + first;
    accumulate<layout.recurrent_begin, layout.gates>(rows, 1,
                                                     weights.recurrent.data() + (block * hidden + first) * panel_step,
                                                     hidden * panel_step, panel_step, end - inputs - first, sums);
  }
  store_sums<T>(sums, sums_at);
}

// The blocks [begin, end) of one row, as many together as keep the adders busy: each sum is one chain of dependent
// additions.
template <class Cell, int num_panels, class T>
HWY_INLINE void step_single_row(const StepRows<T>& step, Index depth, Index begin, Index end) {
  const Index groups = (end - begin) / num_panels;
  for (Index i = 0; i < groups; ++i) {
    const Index b = begin + num_panels * (step.downwards ? groups - 1 - i : i);
    step_tile<Cell, 1, num_panels>(step, b, 0, 0, depth);
    advance_rows<Cell>(step, b, num_panels);
  }
  if constexpr (num_panels > 1) step_single_row<Cell, num_panels / 2>(step, depth, begin + groups * num_panels, end);
}

template <class Cell, class T>
HWY_INLINE void step_rows(const StepRows<T>& step) {
  constexpr int gates = Cell::layout.gates;
  const Index begin = step.block_begin;
  const Index end = step.block_end;
  const Index depth = step.weights.shape.hidden + (step.x != nullptr ? step.weights.shape.input : 0);
  if (step.rows == 1) return step_single_row<Cell, std::max(1, chains / gates)>(step, depth, begin, end);
  for (Index i = 0; i < end - begin; ++i) {
    const Index b = step.downwards ? end - 1 - i : begin + i;
    for_each_piece(depth, panel_piece<T>(gates), [&](Index first, Index last) HWY_ATTR {
      for_each_tile<tile_rows(gates)>(0, step.rows, [&](auto rows, Index row) HWY_ATTR {
        step_tile<Cell, rows.value, 1>(step, b, row, first, last);
      });
    });
    advance_rows<Cell>(step, b, 1);
  }
}

template <class Cell, class T>
void stream_step(const StreamStep<T>& s, Index block_begin, Index block_end) {
  step_rows<Cell>(
      StepRows<T>{s.weights, s.rows, s.x, s.y, s.h_before, s.h, s.memory, block_begin, block_end, s.downwards, s.sums});
}

// Rows [begin, end) of the input product of pairs, and at first the bias: pair q reads x[q] and writes row place[q] of
// `to`.
template <class Cell, int num_rows, class T>
HWY_NOINLINE void project_tile(const PackedWeights<T>& weights, Index block, const T* const* x, const Index* place,
                               Index begin, Index end, const BlockedRows<T>& to) {
  constexpr CellLayout layout = Cell::layout;
  constexpr Index panel_step = layout.gates * lanes<T>;
  const auto sums_at = [&](int, int r) { return to.at(block, place[r]); };
  Sums<T, 1, num_rows, layout.slots> sums;
  if (begin > 0) {
    load_sums<T>(sums, sums_at);
  } else {
    load_sums<T>(sums, [&](int, int) { return weights.bias.data() + block * layout.slots * lanes<T>; });
  }
  const T* rows[num_rows];
  for (int r = 0; r < num_rows; ++r) rows[r] = x[r] + begin;
  accumulate<layout.input_begin, layout.gates>(
      rows, 1, weights.input.data() + (block * weights.shape.input + begin) * panel_step, 0, panel_step, end - begin,
      sums);
  store_sums<T>(sums, sums_at);
}

template <class Cell, class T>
void project_inputs(const PackedWeights<T>& weights, Index count, const T* const* x, const Index* place,
                    const BlockedRows<T>& to) {
  constexpr int gates = Cell::layout.gates;
  for (Index b = 0; b < weights.blocks; ++b) {
    for_each_piece(weights.shape.input, panel_piece<T>(gates), [&](Index begin, Index end) HWY_ATTR {
      for_each_tile<tile_rows(gates)>(0, count, [&](auto num_rows, Index first) HWY_ATTR {
        project_tile<Cell, num_rows.value>(weights, b, x + first, place + first, begin, end, to);
      });
    });
  }
}

// Pairs whose input product is computed at a time.
constexpr Index projection_pairs = 256;

template <class Cell, class T>
class ForwardRows {
 public:
  ForwardRows(const ForwardPass<T>& pass, Index row_begin, Index row_end)
      : pass_(pass), weights_(pass.weights), order_(pass.order), begin_(row_begin), end_(row_end) {
    const auto rows = static_cast<std::size_t>(end_ - begin_);
    y_.resize(rows);
    x_.resize(rows);
    step_sums_.resize(sums_size<Cell, T>(end_ - begin_));
    if (pass_.one_product) return;
    // A chunk is at least one step, and ends at the latest with the step that fills it.
    const Index capacity = projection_pairs + end_ - begin_;
    x_.resize(static_cast<std::size_t>(capacity));
    place_.resize(static_cast<std::size_t>(capacity));
    if (!pass_.keep) sums_.resize(weights_.blocks * capacity * Cell::layout.slots * lanes<T>);
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
    for (Index j = begin_; j < begin_ + active(t); ++j) {
      *x++ = pass_.x.data + order_.row(j) * pass_.x.row_stride + order_.input_step(j, t) * pass_.x.step_stride;
    }
  }

  // Sums and records share their memory when records are kept: a step's sums are read before its record is written.
  [[nodiscard]] BlockedRows<T> sums() {
    if (pass_.keep) return records();
    constexpr Index size = Cell::layout.slots * lanes<T>;
    return {sums_.data(), capacity_ * size, size};
  }
  [[nodiscard]] BlockedRows<T> records() const {
    constexpr Index size = Cell::layout.saved * lanes<T>;
    return {pass_.records, order_.pairs() * size, size};
  }

  // The input products of step `t` and those after it, until there are enough; returns the first step that was left
  // out.
  Index project(Index t) {
    Index count = 0;
    for (; t < order_.processed_steps() && count < projection_pairs; ++t) {
      fill_x(t, x_.data() + count);
      for (Index j = 0; j < active(t); ++j) {
        place_[static_cast<std::size_t>(count + j)] = pass_.keep ? order_.offset(t) + begin_ + j : count + j;
      }
      count += active(t);
    }
    project_inputs<Cell>(weights_, count, x_.data(), place_.data(), sums());
    next_sums_ = 0;
    return t;
  }

  void step(Index t) {
    const Index rows = active(t);
    for (Index j = 0; j < rows; ++j) {
      y_[static_cast<std::size_t>(j)] = pass_.y.data + order_.row(begin_ + j) * pass_.y.row_stride +
                                        order_.output_step(begin_ + j, t) * pass_.y.step_stride;
    }
    const Index stride = weights_.state_stride;
    StepRows<T> step{weights_,
                     rows,
                     pass_.one_product ? x_.data() : nullptr,
                     y_.data(),
                     pass_.states + (pass_.state_row(t - 1) + begin_) * stride,
                     pass_.states + (pass_.state_row(t) + begin_) * stride,
                     Cell::layout.has_memory ? pass_.memory + begin_ * stride : nullptr,
                     0,
                     weights_.blocks,
                     t % 2 != 0,
                     step_sums_.data()};
    const Index pair = order_.offset(t) + begin_;
    if (pass_.keep) {
      step.record = records();
      step.record.data = step.record.at(0, pair);
    }
    if (!pass_.one_product) {
      step.start = sums();
      step.start.data = step.start.at(0, pass_.keep ? pair : next_sums_);
      next_sums_ += rows;
    }
    step_rows<Cell>(step);
  }

  // The carry of rows whose last valid step was t.
  void finish_rows(Index t) const {
    const Index stride = weights_.state_stride;
    const Index last = std::min(order_.longer(t), end_);
    for (Index j = std::max(order_.longer(t + 1), begin_); j < last; ++j) {
      const auto copy = [&](const T* from, const Matrix<T>& to) {
        if (to.data != nullptr) std::copy_n(from, weights_.shape.hidden, to.data + order_.row(j) * to.stride);
      };
      copy(pass_.states + (pass_.state_row(t) + j) * stride, pass_.final_carry.h);
      if (Cell::layout.has_memory) copy(pass_.memory + j * stride, pass_.final_carry.c);
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
  std::vector<Index> place_;
  AlignedArray<T> sums_;
  AlignedArray<T> step_sums_;
};

template <class Cell, class T>
void forward_rows(const ForwardPass<T>& pass, Index row_begin, Index row_end) {
  ForwardRows<Cell, T>(pass, row_begin, row_end).run();
}

}  // namespace strata::recurrent::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
