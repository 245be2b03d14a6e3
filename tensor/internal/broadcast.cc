// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/broadcast.h"

namespace strata::internal {

BroadcastLoops::BroadcastLoops(const Shape& result, std::span<const Shape* const> operands) {
  Offsets dense{};  // elements of each operand within the axes seen so far
  dense.fill(1);
  bool first = true;
  for (int from_end = 1; from_end <= result.rank(); ++from_end) {
    Axis axis{result[-from_end], {}};
    if (axis.size == 1) continue;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Index size = from_end <= operands[i]->rank() ? (*operands[i])[-from_end] : 1;
      axis.strides[i] = size == 1 ? 0 : dense[i];
      dense[i] *= size;
    }
    Axis& last = outer_.empty() ? inner_ : outer_.back();
    bool continues = !first;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      continues = continues && axis.strides[i] == last.size * last.strides[i] &&
                  (axis.strides[i] == 0) == (last.strides[i] == 0);
    }
    if (continues) {
      last.size *= axis.size;
    } else if (first) {
      inner_ = axis;
    } else {
      outer_.push_back(axis);
    }
    first = false;
  }
  for (const Axis& axis : outer_) num_rows_ *= axis.size;
}

BroadcastLoops::Position BroadcastLoops::start(Index row) const {
  Position position{List<Index>(outer_.size()), {}};
  for (std::size_t k = 0; k < outer_.size(); ++k) {
    position.counters[k] = row % outer_[k].size;
    row /= outer_[k].size;
    for (std::size_t i = 0; i < max_operands; ++i) position.offsets[i] += position.counters[k] * outer_[k].strides[i];
  }
  return position;
}

void BroadcastLoops::advance(Position& position) const {
  for (std::size_t k = 0; k < outer_.size(); ++k) {
    const Axis& axis = outer_[k];
    const bool wraps = ++position.counters[k] == axis.size;
    const Index steps = wraps ? 1 - axis.size : 1;
    for (std::size_t i = 0; i < max_operands; ++i) position.offsets[i] += steps * axis.strides[i];
    if (!wraps) return;
    position.counters[k] = 0;
  }
}

}  // namespace strata::internal
