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

// What an element is multiplied by or not: bool of that shape, true with probability 1 - rate. Nothing, and nothing is
// drawn, if the rate is 0.
std::optional<Tensor> draw_mask(const Shape& shape, double rate, RngStream& rngs);

// Elements that the mask keeps, divided by 1 - rate; zeros for the others. x itself without a mask.
Tensor drop(const Tensor& x, const std::optional<Tensor>& kept, double rate);

// A part of a carry under zoneout: each element stays as it was before the step with probability `rate`; in evaluation
// the mean of that.
Tensor zone_out(const Tensor& before, const Tensor& after, double rate, bool deterministic, RngStream& rngs);

}  // namespace strata::recurrent::internal
