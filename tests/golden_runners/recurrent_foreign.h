// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "golden_runners/recurrent_layers.h"

// The golden cases of PyTorch, ONNX Runtime and Keras: their weights are loaded as those libraries lay them out, and
// the layer gives their outputs.
namespace strata::golden {

[[nodiscard]] bool is_foreign(const support::Json& entry);

// Runs one such case; `arrays` are its arrays by role. Throws Mismatch or Skip.
void run_foreign(const support::Json& entry, const Arrays& arrays);

}  // namespace strata::golden
