// SPDX-License-Identifier: Apache-2.0
// decode_dopamine returns a state or throws FormatError; what it returns survives another round trip unless it is one
// that the encoder refuses.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "strata/checkpoint/dopamine.h"
#include "strata/tensor/error.h"

namespace {

std::optional<strata::State> decode(std::span<const std::byte> bytes) {
  try {
    return strata::checkpoint::decode_dopamine(bytes);
  } catch (const strata::FormatError&) {
    return std::nullopt;
  }
}

std::optional<std::vector<std::byte>> encode(const strata::State& state) {
  try {
    return strata::checkpoint::encode_dopamine(state);
  } catch (const strata::StateError&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<strata::State> state = decode(std::as_bytes(std::span(data, size)));
  if (!state) return 0;
  const auto bytes = encode(*state);
  if (bytes && decode(*bytes) != state) std::abort();
  return 0;
}
