// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "strata/state/state.h"
#include "strata/tensor/create.h"

namespace strata::support {

// A variable at every level of a chain of keys: `a`, `b/a`, `b/b/a`, with `link` for `b`. Two chains share no keys.
inline State chain(int depth, double value, const Key& link = "b") {
  std::vector<State::Entry> entries;
  Path above;
  for (int i = 0; i < depth; ++i) {
    entries.push_back({above / Key("a"), Param(scalar(value))});
    above = above / link;
  }
  return State(std::move(entries));
}

}  // namespace strata::support
