// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace strata::checkpoint {

// How the paths of a state and the names of a file without levels (safetensors, npz) become each other.
//
// A name is the keys of a path with the separator between them: `encoder.0.weight_ih_l0` is the path
// encoder/0/weight_ih_l0. Digits as Python writes an integer are integer keys; all others are texts.
struct FlatNameOptions {
  std::string separator = ".";  // "." as in PyTorch, "/" as Flax users mostly write; empty: every name is one key
  bool operator==(const FlatNameOptions&) const = default;
};

}  // namespace strata::checkpoint
