// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "strata/state/fields.h"
#include "strata/tensor/tensor.h"

// What random parts of cells have in common.
namespace strata::recurrent {

// Of wrappers of cells that draw random numbers.
struct NoiseOptions {
  bool deterministic = false;              // evaluation mode: nothing is drawn
  std::string rng_collection = "dropout";  // the stream to draw from
  bool operator==(const NoiseOptions&) const = default;
};

// What elements are multiplied by in all steps of a sequence: 0 where they are dropped, else 1 / (1 - rate). Absent
// where nothing is dropped.
struct DropoutMasks {
  std::optional<Tensor> h = {};  // of the shape and element type of h, where it enters recurrent products
  std::optional<Tensor> x = {};  // [*batch, *features]

  STRATA_FIELDS(h, x)
};

}  // namespace strata::recurrent
