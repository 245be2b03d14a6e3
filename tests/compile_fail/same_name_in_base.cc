// SPDX-License-Identifier: Apache-2.0
// Two fields of one key.
#include <strata/strata.h>

struct Base {
  strata::Param scale;
  STRATA_FIELDS(scale)
};
struct Derived : Base {
  strata::Param scale;
  STRATA_FIELDS_EXTEND(Base, scale)
};

strata::State state_of(const Derived& derived) { return strata::nn::state(derived); }
