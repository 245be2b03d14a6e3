// SPDX-License-Identifier: Apache-2.0
// A container that the library does not look into, whose elements can be compared: not a plain value.
#include <strata/strata.h>

#include <deque>

struct Dense {
  std::deque<strata::Param> kernels;
  STRATA_FIELDS(kernels)
};

strata::State state_of(const Dense& dense) { return strata::nn::state(dense); }
