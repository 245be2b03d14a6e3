// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/state/internal/node_of.h"
#include "strata/state/state.h"

namespace strata::nn {

// How a path of a foreign scheme becomes one of the module's; nothing if the rule has no say on that path. A rule is
// asked about a path as it is and, if it has no say on that, with texts of digits read as integers.
using RenameRule = std::function<std::optional<Path>(const Path&)>;

// Paths that lead through `from` lead through `to` instead. Both in the text form of paths.
[[nodiscard]] RenameRule rename_prefix(std::string_view from, std::string_view to);

// Whole paths that fit the pattern, in which `*` stands for one key and `**` for any number of keys, as few
// as will do. In `to`, `{1}`
// stands for the keys that the first star took, and so on:
//
//   rename_glob("layers/*/self_attn/**", "blocks/{1}/attention/{2}")
//
// Throws ValueError if `to` names a star that the pattern lacks.
[[nodiscard]] RenameRule rename_glob(std::string_view pattern, std::string_view to);

// What a load may do beside giving values to the variables of the same path, shape and element type. By default
// everything else is an error.
struct LoadOptions {
  bool allow_missing = false;           // variables of the module that the state lacks keep their values
  bool allow_unused = false;            // entries of the state that the module has no place for
  bool reshape = false;                 // another shape with as many elements, taken in row-major order
  bool cast = false;                    // another element type
  std::string separator = {};           // parts text keys before the rules see them: "." for `encoder.0.weight`
  std::vector<RenameRule> rename = {};  // the first rule that has a say on a path renames it
};

// What a load did.
struct LoadReport {
  struct Renamed {
    Path from;
    Path to;
  };
  struct Reshaped {
    Path path;
    Shape from;
    Shape to;
  };
  struct Cast {
    Path path;
    DType from;
    DType to;
  };

  std::vector<Path> loaded;   // variables of the module that got a value
  std::vector<Path> missing;  // variables of the module that kept theirs
  std::vector<Path> unused;   // entries of the state, under their own paths
  std::vector<Renamed> renamed;
  std::vector<Reshaped> reshaped;
  std::vector<Cast> cast;
};

namespace internal {

LoadReport load(strata::internal::Node root, const State& state, const LoadOptions& options);

}  // namespace internal

// Gives the variables of a module the values of a state that may come from elsewhere; kinds and metadata stay. Text
// keys that are digits reach positions in lists if no variable has the text itself. Everything that was not plain is in
// the report.
//
//   nn::LoadReport report = nn::load(model, weights, {.allow_unused = true, .separator = ".",
//                                                     .rename = {nn::rename_prefix("model", "")}});
//
// Throws StateError that lists all that the options do not allow, and entries that lead to one variable; nothing is
// changed then.
template <class M>
LoadReport load(M& module, const State& state, const LoadOptions& options = {}) {
  return internal::load(strata::internal::node_of(module), state, options);
}

// A line that counts what was loaded, then one for everything that was not plain.
std::string to_string(const LoadReport& report);
std::ostream& operator<<(std::ostream& out, const LoadReport& report);

}  // namespace strata::nn
