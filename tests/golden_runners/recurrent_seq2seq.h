// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "golden_runners/recurrent_layers.h"

namespace strata::golden {

// Runs one case of the group seq2seq: an encoder, and a decoder that is told the right tokens or fed its own. `arrays`
// are those of the case, by their roles.
void run_seq2seq(const support::Json& entry, const Arrays& arrays);

}  // namespace strata::golden
