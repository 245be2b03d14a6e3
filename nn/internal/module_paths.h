// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "strata/state/internal/node.h"
#include "strata/state/path.h"

namespace strata::nn::internal {

// The paths of the modules and containers below a root, by their addresses. Looks for them when it is first asked.
class ModulePaths {
 public:
  explicit ModulePaths(strata::internal::Node root) : root_(root) {}

  // Null if the object is not below the root, or was not when this was first asked.
  [[nodiscard]] const Path* find(strata::internal::Node module);

  // The path of what a part of the module names. Throws StateError, with the operation that names it, if the object is
  // not below the root, or has a field or key of this name.
  [[nodiscard]] Path of_name(strata::internal::Node module, std::string_view name, std::string_view operation);

 private:
  using Table = std::unordered_map<strata::internal::Identity, Path, strata::internal::IdentityHash>;

  strata::internal::Node root_;
  std::optional<Table> paths_;
};

}  // namespace strata::nn::internal
