// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <utility>

#include "strata/state/variable.h"
#include "strata/tensor/tensor.h"

namespace strata::nn {

// An argument of which each member of an Ensemble, or layer of a Repeat, gets its own entry along an axis. Arguments
// that are not marked so are the same for all.
struct Mapped {
  Tensor value;
  int axis;
};

[[nodiscard]] inline Mapped mapped(Tensor value, int axis = 0) { return {std::move(value), axis}; }

}  // namespace strata::nn
