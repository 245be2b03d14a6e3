// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

struct Dense {
  strata::Param kernel;
  const int width = 3;
  STRATA_FIELDS(kernel, width)
};

strata::State state_of(const Dense& dense) { return strata::nn::state(dense); }
