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

// One step of `rows` rows in the blocks [block_begin, block_end). Without `x`, `sums` holds bias and input product;
// with it, room for them. Weights that are larger than a cache are swept upwards and downwards in turns, so that each
// sweep begins with what the last one left there.
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
  BlockedRows<T> sums;
  BlockedRows<T> record = {};
};

// Room for the sums of a step with `x`: of one row in all blocks, or of all rows in one block after the other.
template <class Cell, class T>
Index step_sums_size(Index rows, Index blocks) {
  return (rows == 1 ? blocks : rows) * Cell::layout.slots * lanes<T>;
}
template <class Cell, class T>
BlockedRows<T> step_sums(T* room, Index rows) {
  constexpr Index size = Cell::layout.slots * lanes<T>;
  return {room, rows == 1 ? size : 0, size};
}

// Rows [begin, end) of the panels of one side, in `block` and those after it.
template <class Cell, class T>
HWY_INLINE TileProduct<T> side_product(const PackedWeights<T>& weights, Side side, Index block, Index begin,
                                       Index end) {
  constexpr Index panel_step = Cell::layout.gates * lanes<T>;
  const bool is_input = side == Side::input;
  const Index depth = is_input ? weights.shape.input : weights.shape.hidden;
  TileProduct<T> product{(is_input ? weights.input : weights.recurrent).data() + (block * depth + begin) * panel_step,
                         panel_step, end - begin};
  product.panel_stride = depth * panel_step;
  product.sums_stride = Cell::layout.slots * lanes<T>;
  return product;
}

// The bias of those slots that the input product leaves alone.
template <class Cell, class T>
HWY_INLINE void fill_other_slots(const T* bias, T* sums) {
  const Tag<T> d;
  for (int s = Cell::layout.input_begin + Cell::layout.gates; s < Cell::layout.slots; ++s) {
    hn::Store(hn::Load(d, bias + s * lanes<T>), d, sums + s * lanes<T>);
  }
}

// The gate functions of all rows in the blocks [begin, end).
template <class Cell, class T>
HWY_NOINLINE void advance_rows(const StepRows<T>& step, Index begin, Index end) {
  const Tag<T> d;
  const PackedWeights<T>& weights = step.weights;
  for (Index b = begin; b < end; ++b) {
    const Index unit = b * lanes<T>;
    for (Index r = 0; r < step.rows; ++r) {
      const Index place = r * weights.state_stride + unit;
      T* const memory = Cell::layout.has_memory ? step.memory + place : nullptr;
      const Vector<T> h = Cell::template advance<T>(
          weights.shape.kind, {step.sums.at(b, r), step.h_before + place, memory, step.record.at(b, r)});
      hn::Store(h, d, step.h + place);
      store_some(h, step.y[r] + unit, weights.shape.hidden - unit);
    }
  }
}

// The blocks [begin, end) of one row, as many together as keep the adders busy: each sum is one chain of dependent
// additions.
template <class Cell, int num_panels, class T>
HWY_INLINE void step_single_row(const StepRows<T>& step, Index begin, Index end) {
  constexpr CellLayout layout = Cell::layout;
  const PackedWeights<T>& weights = step.weights;
  const Index groups = (end - begin) / num_panels;
  for (Index i = 0; i < groups; ++i) {
    const Index b = begin + num_panels * (step.downwards ? groups - 1 - i : i);
    T* const sums = step.sums.at(b, 0);
    if (step.x != nullptr) {
      const T* const bias = weights.bias.data() + b * layout.slots * lanes<T>;
      for (Index p = 0; p < num_panels; ++p)
        fill_other_slots<Cell>(bias + p * layout.slots * lanes<T>, step.sums.at(b + p, 0));
      const TileRow<T> row{step.x[0], bias + layout.input_begin * lanes<T>, sums + layout.input_begin * lanes<T>};
      multiply_tile<layout.gates, 1, num_panels>(side_product<Cell>(weights, Side::input, b, 0, weights.shape.input),
                                                 &row);
    }
    T* const recurrent_sums = sums + layout.recurrent_begin * lanes<T>;
    TileProduct<T> product = side_product<Cell>(weights, Side::recurrent, b, 0, weights.shape.hidden);
    product.sums_stride = step.sums.block_stride;
    const TileRow<T> row{step.h_before, recurrent_sums, recurrent_sums};
    multiply_tile<layout.gates, 1, num_panels>(product, &row);
    advance_rows<Cell>(step, b, b + num_panels);
  }
  if constexpr (num_panels > 1) step_single_row<Cell, num_panels / 2>(step, begin + groups * num_panels, end);
}

// Bias and input product of `count` rows in one block: row r reads x[r] and writes sums_at(r).
template <class Cell, class T, class SumsAt>
HWY_INLINE void project_block(const PackedWeights<T>& weights, Index block, Index count, const T* const* x,
                              const SumsAt& sums_at) {
  constexpr CellLayout layout = Cell::layout;
  const T* const bias = weights.bias.data() + block * layout.slots * lanes<T>;
  for_each_piece(weights.shape.input, panel_piece<T>(layout.gates), [&](Index begin, Index end) HWY_ATTR {
    multiply_rows<Cell::layout.gates>(side_product<Cell>(weights, Side::input, block, begin, end), count, [&](Index r) {
      T* const sums = sums_at(r) + Cell::layout.input_begin * lanes<T>;
      return TileRow<T>{x[r] + begin, begin > 0 ? sums : bias + Cell::layout.input_begin * lanes<T>, sums};
    });
  });
  for (Index r = 0; r < count; ++r) fill_other_slots<Cell>(bias, sums_at(r));
}

template <class Cell, class T>
HWY_INLINE void step_rows(const StepRows<T>& step) {
  constexpr CellLayout layout = Cell::layout;
  const PackedWeights<T>& weights = step.weights;
  const Index blocks = step.block_end - step.block_begin;
  if (step.rows == 1) {
    return step_single_row<Cell, std::max(1, chains / layout.gates)>(step, step.block_begin, step.block_end);
  }
  for (Index i = 0; i < blocks; ++i) {
    const Index b = step.downwards ? step.block_end - 1 - i : step.block_begin + i;
    if (step.x != nullptr) {
      project_block<Cell>(weights, b, step.rows, step.x, [&](Index r) { return step.sums.at(b, r); });
    }
    for_each_piece(weights.shape.hidden, panel_piece<T>(layout.gates), [&](Index begin, Index end) HWY_ATTR {
      multiply_rows<Cell::layout.gates>(
          side_product<Cell>(weights, Side::recurrent, b, begin, end), step.rows, [&](Index r) {
            T* const sums = step.sums.at(b, r) + Cell::layout.recurrent_begin * lanes<T>;
            return TileRow<T>{step.h_before + r * weights.state_stride + begin, sums, sums};
          });
    });
    advance_rows<Cell>(step, b, b + 1);
  }
}

template <class Cell, class T>
void stream_step(const StreamStep<T>& s, Index block_begin, Index block_end) {
  step_rows<Cell>(StepRows<T>{s.weights, s.rows, s.x, s.y, s.h_before, s.h, s.memory, block_begin, block_end,
                              s.downwards, step_sums<Cell>(s.sums, s.rows)});
}

// Bias and input product of pairs: pair q reads x[q] and writes row place[q] of `to`.
template <class Cell, class T>
void project_inputs(const PackedWeights<T>& weights, Index count, const T* const* x, const Index* place,
                    const BlockedRows<T>& to) {
  for (Index b = 0; b < weights.blocks; ++b) {
    project_block<Cell>(weights, b, count, x, [&](Index q) { return to.at(b, place[q]); });
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
    if (pass_.one_product) {
      sums_.resize(step_sums_size<Cell, T>(end_ - begin_, weights_.blocks));
      return;
    }
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
                     {}};
    const Index pair = order_.offset(t) + begin_;
    if (pass_.keep) {
      step.record = records();
      step.record.data = step.record.at(0, pair);
    }
    if (pass_.one_product) {
      step.sums = step_sums<Cell>(sums_.data(), rows);
    } else {
      step.sums = sums();
      step.sums.data = step.sums.at(0, pass_.keep ? pair : next_sums_);
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
};

template <class Cell, class T>
void forward_rows(const ForwardPass<T>& pass, Index row_begin, Index row_end) {
  ForwardRows<Cell, T>(pass, row_begin, row_end).run();
}

}  // namespace strata::recurrent::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
