// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

struct Adapter : strata::Param {
  using strata::Param::Param;
};

strata::Filter adapters = strata::of_type<Adapter>;
