// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "strata/recurrent/internal/kernels/sequence.h"
#include "strata/tensor/tensor.h"

namespace strata::recurrent::internal {

// The carry of `rows` rows that advance step by step, and all memory that a step needs. The weights are kept by
// reference. Results are those of `forward` on the whole sequence, bit for bit.
template <class T>
class StreamState {
 public:
  // With a carry of zeros. Steps that are long enough are shared with the pool's threads if `parallel` is set. Throws
  // std::bad_alloc.
  StreamState(const PackedWeights<T>& weights, Index rows, bool parallel);

  // Absent parts are zero.
  void set_carry(const CarryView<const T>& carry) noexcept;
  // Absent parts are left out.
  void get_carry(const CarryView<T>& carry) const noexcept;

  // One step: x is [rows, input], y gets the new h, [rows, hidden]. Allocates nothing.
  void step(const Matrix<const T>& x, const Matrix<T>& y) noexcept;

 private:
  [[nodiscard]] T* states(bool second) noexcept {
    return states_.data() + (second ? rows_ * weights_->state_stride : 0);
  }

  const PackedWeights<T>* weights_;
  Index rows_;
  Index part_;           // blocks that one thread computes
  Index sums_size_;      // numbers of sums_ for each part
  bool second_ = false;  // which half of states_ holds the current ones
  AlignedArray<T> states_;
  AlignedArray<T> memory_;
  AlignedArray<T> sums_;
  std::vector<const T*> x_;
  std::vector<T*> y_;
  std::vector<Index> row_numbers_;
};

// Where the parts of a carry {h} or {c, h} are, for reading or for writing.
template <class T, class Carry>
CarryView<T> carry_view(Carry& carry, Index hidden) {
  const auto rows = [&](auto& part) -> Matrix<T> {
    if constexpr (std::is_const_v<T>) {
      return {part.template data<std::remove_const_t<T>>().data(), hidden};
    } else {
      return {part.template mutable_data<T>().data(), hidden};
    }
  };
  CarryView<T> view{.h = rows(carry.h), .c = {}};
  if constexpr (requires { carry.c; }) view.c = rows(carry.c);
  return view;
}

extern template class StreamState<float>;
extern template class StreamState<double>;

}  // namespace strata::recurrent::internal
