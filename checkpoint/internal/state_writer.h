// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "strata/state/state.h"

namespace strata::checkpoint::internal {

// Takes the next bytes of a file.
using Write = std::function<void(std::span<const std::byte>)>;

// encode_dopamine, piece by piece, in errors under the name of the operation. What cannot be written is found before
// the first piece, a state too large for its reader after the last.
void write_state(const State& state, const std::string& operation, const Write& write);

}  // namespace strata::checkpoint::internal
