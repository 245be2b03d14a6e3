// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "strata/state/state.h"

namespace strata::golden {

// The state of the new module that `call` makes, for example "LSTMCell(3, 5, rngs=Rngs(0))". Throws Skip if there is no
// such module, ValueError if the text cannot be read.
[[nodiscard]] State initial_state(const std::string& call);

}  // namespace strata::golden
