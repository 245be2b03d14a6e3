// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "strata/state/state.h"
#include "strata/tensor/error.h"

namespace strata::fuzz {

// Decodes; what could be decoded is encoded and decoded again, and must be the same. Encoders may refuse a state.
template <class Decode, class Encode>
int round_trip(const std::uint8_t* data, std::size_t size, Decode decode, Encode encode) {
  std::optional<State> state;
  try {
    state = decode(std::as_bytes(std::span(data, size)));
  } catch (const FormatError&) {
    return 0;
  }
  std::vector<std::byte> bytes;
  try {
    bytes = encode(*state);
  } catch (const StateError&) {
    return 0;
  } catch (const ShapeError&) {
    return 0;
  }
  if (decode(std::span<const std::byte>(bytes)) != *state) std::abort();
  return 0;
}

}  // namespace strata::fuzz
