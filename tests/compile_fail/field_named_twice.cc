// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

struct Layer {
  strata::Param kernel;
  strata::Param bias;
  STRATA_FIELDS(kernel, kernel)
};
