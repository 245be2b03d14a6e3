// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "strata/state/state.h"

namespace strata::checkpoint::internal {

using Entries = std::span<const State::Entry>;

// Calls f(key, entries) for each key at the depth, with the entries whose paths have it there. The entries are sorted.
template <class F>
void for_each_key(Entries entries, int depth, F f) {
  while (!entries.empty()) {
    const Key& key = entries.front().path[depth];
    std::size_t count = 1;
    while (count < entries.size() && entries[count].path[depth] == key) ++count;
    f(key, entries.first(count));
    entries = entries.subspan(count);
  }
}

// True if the entries are one variable whose path ends at the depth.
inline bool is_leaf(Entries entries, int depth) { return entries.size() == 1 && entries[0].path.depth() == depth; }

// Throws StateError that lists all parts of the state that Dopamine's encoding cannot hold.
void check_encodable(const State& state, const std::string& operation);

}  // namespace strata::checkpoint::internal
