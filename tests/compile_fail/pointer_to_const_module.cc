// SPDX-License-Identifier: Apache-2.0
// The variables could not be given new values.
#include <strata/strata.h>

struct Dense {
  strata::Param kernel;
  STRATA_FIELDS(kernel)
};
struct Net {
  std::shared_ptr<const Dense> dense;
  STRATA_FIELDS(dense)
};

strata::State state_of(const Net& net) { return strata::nn::state(net); }
