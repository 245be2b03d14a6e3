// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

struct Base {
  strata::Param kernel;
};
struct Derived : Base {
  strata::Param bias;
  STRATA_FIELDS(bias)
};
