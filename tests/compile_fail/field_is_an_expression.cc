// SPDX-License-Identifier: Apache-2.0
// The key of a field is a name.
#include <strata/strata.h>

struct Dense {
  strata::Param kernel;
  strata::Param bias;
  STRATA_FIELDS(kernel, this->bias)
};

strata::State state_of(const Dense& dense) { return strata::nn::state(dense); }
