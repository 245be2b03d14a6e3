// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/optim/transformation.h"
#include "support/json.h"

namespace strata::golden {

// An optimizer as the golden files describe it: a list of transformations.
optim::Transformation parse_chain(const support::Json& chain);

}  // namespace strata::golden
