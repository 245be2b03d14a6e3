// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

struct Dense {
  std::map<int, strata::Param, std::greater<>> kernels;
  STRATA_FIELDS(kernels)
};

strata::State state_of(const Dense& dense) { return strata::nn::state(dense); }
