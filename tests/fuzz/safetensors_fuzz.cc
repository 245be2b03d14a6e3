// SPDX-License-Identifier: Apache-2.0
// decode_safetensors returns a state or throws FormatError; what it returns survives another round trip unless the
// encoder refuses it.
#include "flat_file_fuzz.h"
#include "strata/checkpoint/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz::round_trip(
      data, size, [](auto bytes) { return strata::checkpoint::decode_safetensors(bytes); },
      [](const strata::State& state) { return strata::checkpoint::encode_safetensors(state); });
}
