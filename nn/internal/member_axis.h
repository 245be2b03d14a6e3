// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "strata/nn/state_axes.h"
#include "strata/tensor/tensor.h"

namespace strata::nn::internal {

// True if a tensor of this rank has the axis, negative ones counted from its end.
inline bool has_axis(int rank, int axis) { return axis >= -rank && axis < rank; }

// Entry `member` along the axis, or x itself if it is shared. Shares the elements along the leading axis.
[[nodiscard]] Tensor member_of(const Tensor& x, MemberAxis axis, Index member);

// All entries along the axis, by one operation: its gradient is put together once, not once for each entry.
[[nodiscard]] std::vector<Tensor> unstack(const Tensor& x, int axis);

// Throws ShapeError that lists the variables that do not have `size` entries along their axes. A size of -1 is that of
// the first stacked variable. Returns the size, -1 if all variables are shared.
Index check_member_axes(const State& stacked, const std::vector<MemberAxis>& axes, Index size,
                        const std::string& operation);

}  // namespace strata::nn::internal
