// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/state/fields.h"
#include "strata/tensor/tensor.h"

namespace strata::recurrent {

// What an LSTM carries from step to step.
struct LSTMCarry {
  Tensor c;  // memory, [*batch, hidden]
  Tensor h;  // output of the step before, [*batch, hidden]

  STRATA_FIELDS(c, h)
};

// What the other standard cells carry.
struct HiddenCarry {
  Tensor h;  // output of the step before, [*batch, hidden]

  STRATA_FIELDS(h)
};

}  // namespace strata::recurrent
