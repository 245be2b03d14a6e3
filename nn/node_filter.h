// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <string_view>
#include <utility>

#include "strata/filters/filter.h"
#include "strata/state/internal/node_of.h"

namespace strata::nn {

// A variable, module or container (what has keys of its own) inside a module, with the path that leads to it. Valid as
// long as the module stays where it is.
class GraphNode {
 public:
  GraphNode(Path path, strata::internal::Node node) : path_(std::move(path)), node_(node) {}

  [[nodiscard]] const Path& path() const noexcept { return path_; }
  [[nodiscard]] bool is_variable() const noexcept { return node_.type->role == strata::internal::Role::variable; }

  // The C++ type of a module or container, the kind of a variable.
  [[nodiscard]] std::string_view type() const;

  // The object if it is of exactly this type; of a variable also as `Variable`. Null otherwise.
  template <class T>
  [[nodiscard]] const T* get_if() const {
    if constexpr (std::same_as<T, Variable>) {
      return variable();
    } else {
      return node_.type == &strata::internal::node_type<T>() ? static_cast<const T*>(node_.object) : nullptr;
    }
  }

  // True if both are one object, which may have several paths.
  [[nodiscard]] bool is_same_object(const GraphNode& other) const noexcept {
    return strata::internal::identity(node_) == strata::internal::identity(other.node_);
  }

 private:
  [[nodiscard]] const Variable* variable() const;

  Path path_;
  strata::internal::Node node_;
};

// Which nodes? A predicate on path and object. Any Filter is one: its parts on paths look at modules too, its parts on
// kinds, tags and values take no module. `of_module<nn::Dropout>` takes modules by type, a lambda on a GraphNode what
// it says; &&, || and ! combine them.
class NodeFilter {
 public:
  NodeFilter(Filter filter);
  template <std::convertible_to<Filter> F>
  requires(!std::same_as<std::remove_cvref_t<F>, Filter>) NodeFilter(const F& filter) : NodeFilter(Filter(filter)) {}
  template <class F>
  requires(!std::convertible_to<F, Filter> && std::is_invocable_r_v<bool, F, const GraphNode&>) NodeFilter(F predicate)
      : predicate_(std::move(predicate)) {}

  [[nodiscard]] bool operator()(const GraphNode& node) const { return predicate_(node); }

  friend NodeFilter operator&&(const NodeFilter& a, const NodeFilter& b);
  friend NodeFilter operator||(const NodeFilter& a, const NodeFilter& b);
  friend NodeFilter operator!(const NodeFilter& filter);

 private:
  std::function<bool(const GraphNode&)> predicate_;
};

template <class M>
struct ModuleTypeLiteral {
  bool operator()(const GraphNode& node) const { return node.get_if<M>() != nullptr; }
};

// Modules of exactly this type.
template <Module M>
inline constexpr ModuleTypeLiteral<M> of_module;

NodeFilter operator&&(const NodeFilter& a, const NodeFilter& b);
NodeFilter operator||(const NodeFilter& a, const NodeFilter& b);
NodeFilter operator!(const NodeFilter& filter);

}  // namespace strata::nn
