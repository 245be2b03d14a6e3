// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/nn/node_filter.h"
#include "strata/state/internal/clone.h"
#include "strata/state/rngs.h"
#include "strata/tensor/error.h"

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

// The streams of `root` that the filter takes, and as many streams split off each of them as there are copies, which
// get them.
void split_streams(strata::internal::Node root, std::span<const strata::internal::Node> copies, const Filter& only);

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

// Copies of a module (Rngs are one), where each has streams of its own in place of those that the filter takes: from
// keys that are split off the next key of the original, with the count 0. The other streams keep key and count, so that
// all copies draw the same from them. Throws StateError if the filter takes no stream, ValueError if `count` is
// negative.
//
//   for (Rngs& of_member : nn::split_streams(rngs, 8, with_tag("dropout"))) members.push_back(Net(of_member));
template <class M>
[[nodiscard]] std::vector<M> split_streams(M& module, Index count, const Filter& only = everything) {
  if (count < 0) throw ValueError("[split_streams] " + std::to_string(count) + " copies. Give a number from 0 on.");
  std::vector<M> copies;
  std::vector<strata::internal::Node> nodes;
  copies.reserve(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    copies.push_back(strata::internal::clone(module));
    nodes.push_back(strata::internal::node_of(copies.back()));
  }
  internal::split_streams(strata::internal::node_of(module), nodes, only);
  return copies;
}

}  // namespace strata::nn
