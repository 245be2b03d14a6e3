// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "strata/checkpoint/dopamine.h"
#include "strata/checkpoint/internal/source.h"
#include "strata/state/state.h"

namespace strata::checkpoint::internal {

// decode_dopamine, with errors that name the source.
[[nodiscard]] State read_state(std::span<const std::byte> bytes, const Source& source, DopamineOptions options);

}  // namespace strata::checkpoint::internal
