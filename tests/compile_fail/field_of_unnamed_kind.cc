// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

struct Adapter : strata::Param {};
struct Dense {
  Adapter adapter;
  STRATA_FIELDS(adapter)
};

strata::State state_of(const Dense& dense) { return strata::nn::state(dense); }
