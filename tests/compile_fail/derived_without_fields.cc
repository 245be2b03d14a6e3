// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

struct Base {
  strata::Param kernel;
  STRATA_FIELDS(kernel)
};
struct Derived : Base {
  strata::Param bias;
};
struct Model {
  Derived layer;
  STRATA_FIELDS(layer)
};

strata::State state(const Model& model) { return strata::nn::state(model); }
