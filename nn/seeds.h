// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/nn/node_filter.h"
#include "strata/state/rngs.h"

// The random streams inside a module. Filters see each stream as the variable that holds its key, with the tag and the
// path of that variable.
namespace strata::nn {

struct Seed {
  std::string_view tag;
  std::int64_t seed;
};

enum class Absent { error, ignore };

namespace internal {

void reseed(strata::internal::Node root, std::vector<Seed> seeds, Absent absent);
void fork_streams(strata::internal::Node root, const Filter& only);

}  // namespace internal

// Gives every stream with one of the tags a new key and the count 0. With seed s, the n-th stream of a tag, in the
// order of paths and from 0, gets fold_in(key(s), n), as in Flax. Throws ValueError if a tag is given twice, and,
// unless Absent::ignore, StateError that lists the tags that no stream has; nothing is changed then.
//
//   nn::reseed(model, {{"dropout", 7}});
template <class M>
void reseed(M& module, std::vector<Seed> seeds, Absent absent = Absent::error) {
  internal::reseed(strata::internal::node_of(module), std::move(seeds), absent);
}

// Replaces the streams that the filter takes by their forks: each starts from its own next key, with the count 0. The
// others keep key and count. Throws StateError if the filter takes no stream.
template <class M>
void fork_streams(M& module, const Filter& only = everything) {
  internal::fork_streams(strata::internal::node_of(module), only);
}

}  // namespace strata::nn
