// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/dopamine.h"

#include "strata/checkpoint/internal/state_reader.h"
#include "strata/checkpoint/internal/state_writer.h"

namespace strata::checkpoint {

std::vector<std::byte> encode_dopamine(const State& state) {
  constexpr std::size_t usual_bytes_beside_elements = 128;
  std::vector<std::byte> bytes;
  bytes.reserve(state.num_bytes() + usual_bytes_beside_elements * static_cast<std::size_t>(state.size()));
  internal::write_state(state, "encode_dopamine",
                        [&](std::span<const std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  return bytes;
}

State decode_dopamine(std::span<const std::byte> bytes, DopamineOptions options) {
  return internal::read_state(bytes, {.operation = "decode_dopamine"}, options);
}

}  // namespace strata::checkpoint
