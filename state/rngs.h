// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/state/internal/node_of.h"
#include "strata/tensor/random.h"

namespace strata {

// A named source of random keys: draw number n is fold_in(key, n). Its state, the key (uint32[2]) and the count of
// draws (a uint32 scalar), is part of the module that holds it, both tagged with the stream's name.
struct RngStream {
  RngStream() : RngStream("default", random::key(0)) {}
  RngStream(std::string_view name, RandomKey stream_key);

  // The next key; the count rises by one, and starts again at 0 after 2^32 draws. Throws StateError if the variables
  // are not of the shapes and element types above.
  RandomKey draw();

  // A stream with the same tags that starts from the next key of this one.
  [[nodiscard]] RngStream fork();

  // Several such streams, from keys that are split off the next key. Throws ValueError if their number is negative.
  [[nodiscard]] std::vector<RngStream> split(Index num_streams);

  RngKey key;
  RngCount count;

  STRATA_FIELDS(key, count)
};

// Named streams of random keys: the same seeds give the same numbers as Flax's Rngs.
//
//   Rngs rngs(0);                    // the one stream `default`
//   Rngs rngs(0, {{"dropout", 1}});  // and one of its own for dropout
//
// In a module its streams are its fields: `rngs/dropout/key`.
class Rngs {
 public:
  using Seeds = std::initializer_list<std::pair<std::string_view, std::int64_t>>;

  // Seeds outside 32 bits are taken modulo 2^32, as in JAX. Throws ValueError if a name is given twice; `seed` is that
  // of `default`.
  explicit Rngs(std::int64_t seed, Seeds named = {});

  // Without a `default`: only names that are given can be drawn from.
  explicit Rngs(Seeds named);

  // The same for names that are known at run time.
  explicit Rngs(const std::map<std::string, std::int64_t>& named);

  // The stream of that name, or `default`. Throws StateError if there is neither.
  [[nodiscard]] RngStream& stream(std::string_view name);

  // The next key of the stream of that name, or of `default`.
  RandomKey draw(std::string_view name) { return stream(name).draw(); }

  // New streams of the same names, each starting from the next key of its original.
  [[nodiscard]] Rngs fork();

  // Sets of new streams of the same names, from keys that are split off the next key of each original, as by Flax's
  // split. Throws ValueError if their number is negative.
  [[nodiscard]] std::vector<Rngs> split(Index num_sets);

 private:
  friend struct internal::ContainerType<Rngs>;

  void add(std::string_view name, std::int64_t seed);

  std::map<std::string, RngStream> streams_;
};

namespace internal {

template <>
struct Contents<Rngs> : ContentsOf<RngStream> {};

// Streams under their names, as in a map.
template <>
struct ContainerType<Rngs> {
  static constexpr NodeType make() {
    NodeType type{Role::group, type_name<Rngs>()};
    type.children = children;
    type.copy = copy;
    return type;
  }
  static void children(void* object, ChildVisitor& visitor);
  static void copy(void* to, const void* from, PendingCopies& pending);
};

}  // namespace internal

}  // namespace strata
