// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "golden_runners/dynamic_module.h"
#include "strata/filters/filter.h"
#include "strata/state/state.h"
#include "support/json.h"

// The encodings of the golden files: paths, leaves, kinds, filters. tests/golden/nnx/README.md describes them.
namespace strata::golden {

Key parse_key(const support::Json& key);
Path parse_path(const support::Json& path);
support::Json to_json(const Path& path);

// Kinds by name: the library's own, and those that the data define on top of them.
class Kinds {
 public:
  explicit Kinds(const support::Json& types);
  [[nodiscard]] const Kind& at(const std::string& name) const { return *kinds_.at(name); }

 private:
  std::map<std::string, const Kind*> kinds_;
  std::vector<std::unique_ptr<Kind>> own_;
};

// {"path", "type", "shape", "tag"?}; the value is zero.
State::Entry parse_leaf(const support::Json& leaf, const Kinds& kinds);
State parse_leaves(const support::Json& leaves, const Kinds& kinds);

// Thrown for what is no filter.
struct InvalidFilter {};

Filter parse_filter(const support::Json& filter, const Kinds& kinds);

// A module with these variables at these paths: integers are positions in lists.
std::shared_ptr<DynamicModule> build_module(const State& state);

}  // namespace strata::golden
