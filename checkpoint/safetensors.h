// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "strata/checkpoint/flat_names.h"
#include "strata/state/state.h"

// The format of Hugging Face's safetensors: what PyTorch users share weights in. A file holds named tensors, no kinds
// and no metadata: variables come back as `Variable`, which fits a field of every kind.
namespace strata::checkpoint {

// The tensors of a state by their names, byte for byte as the reference library writes them: widest element types
// first.
//
// Throws StateError that lists paths whose names would not be read back (see FlatNameOptions), and a variable whose
// name would be `__metadata__`.
[[nodiscard]] std::vector<std::byte> encode_safetensors(const State& state, const FlatNameOptions& options = {});

// The tensors of a safetensors file. Element types are those of tensors; a file with others (F8_E4M3, C64, ...) is a
// FormatError that names the first.
//
// Safe for bytes from anywhere: takes less than 64 times their memory plus 1 MiB. Throws FormatError, naming byte and
// tensor, for what is not in the format: a header that lies about its length, is no such JSON or names something twice,
// tensors that overlap, leave holes or do not fill their shape; and for names of which one continues another, as `a`
// and `a.b` do: another separator reads them.
[[nodiscard]] State decode_safetensors(std::span<const std::byte> bytes, const FlatNameOptions& options = {});

// The same to and from a file, which appears whole or not at all. Throw IoError with file, operation and the system's
// message as well.
void save_safetensors(const std::string& file, const State& state, const FlatNameOptions& options = {});
[[nodiscard]] State restore_safetensors(const std::string& file, const FlatNameOptions& options = {});

}  // namespace strata::checkpoint
