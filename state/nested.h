// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/state/state.h"

namespace strata {

// A tensor, or a map from keys to further ones, in the order of the keys: what remains of a state in files that know
// neither kinds nor metadata. However deep it is, copying, comparing and destroying it need no recursion.
//
//   Nested values{{"dense", {{"bias", zeros({2})}, {"kernel", ones({2, 2})}}}};
class Nested {
 public:
  using Map = std::map<Key, Nested>;
  using Member = std::pair<Key, Nested>;

  Nested();  // an empty map
  Nested(Tensor value);
  Nested(std::initializer_list<Member> members);  // of several with one key the last counts
  Nested(const Nested& other);
  Nested(Nested&& other) noexcept;
  Nested& operator=(Nested other) noexcept;
  ~Nested();

  [[nodiscard]] bool is_map() const noexcept { return members_ != nullptr; }

  // Throw StateError if it is the other one of the two.
  [[nodiscard]] const Tensor& value() const;
  [[nodiscard]] const Map& members() const;
  [[nodiscard]] Map& members();

  // The member of a map, or null.
  [[nodiscard]] const Nested* find(const Key& key) const noexcept;

  // Equal keys, and identical tensors.
  friend bool operator==(const Nested& a, const Nested& b);

 private:
  Tensor value_;
  std::unique_ptr<Map> members_;  // null for a tensor
};

// The values of a state, and the state of variables without kind or metadata (the root kind `Variable`). Empty maps
// have no place in a state.
[[nodiscard]] Nested to_nested(const State& state);
[[nodiscard]] State to_state(const Nested& values);

// A tensor of a nested map, or an empty map, by its path.
struct FlatEntry {
  Path path;
  std::optional<Tensor> value = {};  // nothing for an empty map
};

struct FlattenOptions {
  bool keep_empty = false;  // empty maps get entries too
};

// The tensors of a map in the order of their paths. An empty root has no entry. Throws StateError if `values` is a
// tensor.
[[nodiscard]] std::vector<FlatEntry> flatten(const Nested& values, FlattenOptions options = {});

// The map with these entries, in any order. Throws StateError that lists paths that are given twice or continue
// another, and if there is an entry for the root.
[[nodiscard]] Nested unflatten(std::span<const FlatEntry> entries);

// The keys of a path with a separator between them: "dense.kernel". Throws ValueError for what split_keys would not
// read back: integer keys, keys that hold the separator, the root, an empty separator.
[[nodiscard]] std::string join_keys(const Path& path, std::string_view separator);

// The texts between the separators as keys: digits stay texts. Throws ValueError if the separator is empty.
[[nodiscard]] Path split_keys(std::string_view text, std::string_view separator);

// The integer that a text of digits, with or without a minus, stands for; nothing for other texts and beyond 64 bits.
[[nodiscard]] std::optional<Index> integer_reading(std::string_view text) noexcept;

// The same map with integers in place of all keys that are texts of digits. Throws StateError that lists keys of one
// map with the same reading, such as "1" and "01": one of their values would be lost.
[[nodiscard]] Nested with_integer_keys(const Nested& values);

// Replaces values of the state, and keeps its kinds and metadata. A path of `values` is looked for as it is, and then
// with all texts of digits read as integers. Throws StateError that lists all paths that are unknown, given twice, or
// have another shape or element type; nothing is changed then.
void replace_values(State& state, const Nested& values);

}  // namespace strata
