// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/streams/stream_state.h"

#include <algorithm>
#include <numeric>

#include "strata/recurrent/internal/kernels/kernels.h"
#include "strata/recurrent/internal/kernels/row_groups.h"
#include "strata/tensor/thread_pool.h"

namespace strata::recurrent::internal {
namespace {

// Multiplications and additions of a step that are worth a second thread. Fewer than in a sequence: with one row the
// time goes into reading the weights, and half of them may fit a thread's own cache.
constexpr Index parallel_step_operations = Index{1} << 19;

template <class T>
void copy_rows(Index rows, Index hidden, const T* from, Index from_stride, T* to, Index to_stride) {
  for (Index b = 0; b < rows; ++b) std::copy_n(from + b * from_stride, hidden, to + b * to_stride);
}

}  // namespace

template <class T>
StreamState<T>::StreamState(const PackedWeights<T>& weights, Index rows, bool parallel)
    : weights_(&weights),
      rows_(rows),
      part_(weights.blocks),
      sums_size_(step_sums(weights, rows)),
      states_(2 * rows * weights.state_stride),
      memory_(weights.layout().has_memory ? rows * weights.state_stride : 0),
      x_(static_cast<std::size_t>(rows)),
      y_(static_cast<std::size_t>(rows)),
      row_numbers_(static_cast<std::size_t>(rows)) {
  std::iota(row_numbers_.begin(), row_numbers_.end(), Index{0});
  if (parallel && rows * pair_operations(weights.shape) >= parallel_step_operations) {
    part_ = (weights.blocks + num_threads() - 1) / num_threads();
  }
  const Index parts = (weights.blocks + part_ - 1) / part_;
  sums_.resize(parts * sums_size_);
  parallel_for(0, parts, 1, [](Index, Index) {});  // starts the workers, which allocates: before the first step
  set_carry({});
}

template <class T>
void StreamState<T>::set_carry(const CarryView<const T>& carry) noexcept {
  const Index hidden = weights_->shape.hidden;
  const Index stride = weights_->state_stride;
  states_.fill_zero();
  memory_.fill_zero();
  if (carry.h.data != nullptr) copy_rows(rows_, hidden, carry.h.data, carry.h.stride, states(second_), stride);
  if (carry.c.data != nullptr) copy_rows(rows_, hidden, carry.c.data, carry.c.stride, memory_.data(), stride);
}

template <class T>
void StreamState<T>::get_carry(const CarryView<T>& carry) const noexcept {
  const Index hidden = weights_->shape.hidden;
  const Index stride = weights_->state_stride;
  const T* const h = states_.data() + (second_ ? rows_ * stride : 0);
  if (carry.h.data != nullptr) copy_rows(rows_, hidden, h, stride, carry.h.data, carry.h.stride);
  if (carry.c.data != nullptr) copy_rows(rows_, hidden, memory_.data(), stride, carry.c.data, carry.c.stride);
}

template <class T>
void StreamState<T>::step(const Matrix<const T>& x, const Matrix<T>& y) noexcept {
  for (Index b = 0; b < rows_; ++b) {
    x_[static_cast<std::size_t>(b)] = x.data + b * x.stride;
    y_[static_cast<std::size_t>(b)] = y.data + b * y.stride;
  }
  const auto advance = [&](Index begin, Index end) {
    weights_->forward->step({*weights_, rows_, x_.data(), y_.data(), states(second_), states(!second_), memory_.data(),
                             begin, end, second_, row_numbers_.data(), sums_.data() + begin / part_ * sums_size_});
  };
  if (part_ < weights_->blocks) {
    parallel_for(0, weights_->blocks, part_, advance);
  } else {
    advance(0, weights_->blocks);
  }
  second_ = !second_;
}

template class StreamState<float>;
template class StreamState<double>;

}  // namespace strata::recurrent::internal
