// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/activation.h"

namespace strata::recurrent {

// An elementwise function of a cell, such as strata::sigmoid. A plain function, so that cells can be compared.
using Activation = Tensor (*)(const Tensor&);

}  // namespace strata::recurrent
