// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "strata/state/state.h"

// What a reader takes at most. Writers refuse what a reader would.
namespace strata::checkpoint::internal {

inline constexpr std::size_t max_levels = 1024;  // of lists and maps within each other, as Python's msgpack

// The levels that a variable takes below the maps of its path: its own map, the list of its metadata, a pair of that.
inline constexpr std::size_t max_path_keys = max_levels - 3;

inline constexpr int max_rank_read = 64;     // as NumPy 2
inline constexpr int max_rank_written = 32;  // as NumPy 1

// Every variable repeats the keys that lead to it, so that a small file could describe a large state. These are upper
// bounds of the memory that the parts of a state take beside the elements, in bytes.
inline constexpr std::size_t entry_memory = 4 * sizeof(State::Entry);
inline constexpr std::size_t metadata_value_memory = 256;
inline std::size_t key_memory(const Key& key) { return sizeof(Key) + (key.is_integer() ? 0 : key.text().size()); }
inline std::size_t memory_allowed(std::size_t bytes_read) { return 32 * bytes_read + (std::size_t{1} << 20); }

}  // namespace strata::checkpoint::internal
