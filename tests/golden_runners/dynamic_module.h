// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "strata/state/internal/node_of.h"

// A module whose structure is known at run time only: what the golden data describe. Every part stands behind a
// shared_ptr, since every part may be shared.
namespace strata::golden {

struct DynamicModule;
struct DynamicList;
using DynamicChild =
    std::variant<std::shared_ptr<Variable>, std::shared_ptr<DynamicModule>, std::shared_ptr<DynamicList>>;

// Its members are its fields: no key stands between.
struct DynamicModule {
  std::map<std::string, DynamicChild> members;
};
struct DynamicList {
  std::vector<DynamicChild> items;
};

}  // namespace strata::golden

namespace strata::internal {

template <>
struct Contents<golden::DynamicModule> : ContentsOf<std::shared_ptr<Variable>> {};
template <>
struct Contents<golden::DynamicList> : ContentsOf<std::shared_ptr<Variable>> {};

template <>
struct ContainerType<golden::DynamicModule> {
  static constexpr NodeType make() {
    NodeType type{Role::group, "DynamicModule"};
    type.children = [](void* object, ChildVisitor& visitor) {
      auto& members = static_cast<golden::DynamicModule*>(object)->members;
      node_of(members).type->children(&members, visitor);
    };
    return type;
  }
};
template <>
struct ContainerType<golden::DynamicList> {
  static constexpr NodeType make() {
    NodeType type{Role::group, "DynamicList"};
    type.children = [](void* object, ChildVisitor& visitor) {
      visit_elements(static_cast<golden::DynamicList*>(object)->items, visitor);
    };
    return type;
  }
};

}  // namespace strata::internal
