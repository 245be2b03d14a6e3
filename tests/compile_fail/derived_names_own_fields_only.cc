// SPDX-License-Identifier: Apache-2.0
// STRATA_FIELDS in a derived module, where STRATA_FIELDS_EXTEND is needed.
#include <strata/strata.h>

struct Base {
  strata::Param scale;
  STRATA_FIELDS(scale)
};
struct Derived : Base {
  strata::Param bias;
  STRATA_FIELDS(bias)
};
