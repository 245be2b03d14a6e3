// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace strata::recurrent {

// What wrappers of cells that draw random numbers have in common.
struct NoiseOptions {
  bool deterministic = false;              // evaluation mode: nothing is drawn
  std::string rng_collection = "dropout";  // the stream to draw from
};

}  // namespace strata::recurrent
