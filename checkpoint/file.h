// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "strata/checkpoint/dopamine.h"

namespace strata::checkpoint {

// Writes the state to a file in Dopamine's encoding. The file appears whole or not at all: the bytes go to a temporary
// file in the same folder, are flushed to the disk, and take the name last, in place of a file (or symbolic link) that
// has it. It has the permissions of a new file, not those of the one that it replaces.
//
// Throws IoError with file, operation and the system's message, StateError as encode_dopamine does; a file that was
// there is then left as it was.
void save(const std::string& file, const State& state);

// Reads what save or Dopamine wrote.
// Throws IoError if the file cannot be read or is none (a folder, device or pipe), FormatError as decode_dopamine does,
// naming the file.
[[nodiscard]] State restore(const std::string& file, DopamineOptions options = {});

}  // namespace strata::checkpoint
