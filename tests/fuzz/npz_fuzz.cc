// SPDX-License-Identifier: Apache-2.0
// decode_npz returns a state or throws FormatError; what it returns survives another round trip unless the encoder
// refuses it.
#include "flat_file_fuzz.h"
#include "strata/checkpoint/numpy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz::round_trip(
      data, size, [](auto bytes) { return strata::checkpoint::decode_npz(bytes); },
      [](const strata::State& state) { return strata::checkpoint::encode_npz(state); });
}
