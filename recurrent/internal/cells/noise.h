// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/state/rngs.h"
#include "strata/tensor/tensor.h"

// Random parts of cells.
namespace strata::recurrent::internal {

// The rate. Throws ValueError unless it is in [0, 1].
double checked_rate(double rate, const char* wrapper, const char* name);

// The same for the memory of a cell under zoneout, which the cell may not have: its rate is 0 then.
double checked_memory_rate(double rate, bool has_memory);

// What elements are multiplied by: 0 with the probability `rate`, else 1 / (1 - rate). Nothing, and nothing is drawn,
// if the rate is 0.
std::optional<Tensor> draw_mask(const Shape& shape, DType dtype, double rate, RngStream& rngs);

// x times the mask, of the element type of x if that is floating; x itself without a mask.
Tensor masked(const Tensor& x, const std::optional<Tensor>& mask);

// A part of a carry under zoneout: each element stays as it was before the step with probability `rate`; in evaluation
// the mean of that.
Tensor zone_out(const Tensor& before, const Tensor& after, double rate, bool deterministic, RngStream& rngs);

}  // namespace strata::recurrent::internal
