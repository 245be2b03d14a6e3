// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/node_filter.h"

namespace strata::nn {

const Variable* GraphNode::variable() const { return is_variable() ? node_.type->variable(node_.object) : nullptr; }

std::string_view GraphNode::type() const {
  const Variable* const leaf = variable();
  return leaf == nullptr ? node_.type->name : leaf->kind().name;
}

NodeFilter::NodeFilter(Filter filter)
    : predicate_([filter = std::move(filter)](const GraphNode& node) {
        // A filter looks at a variable. For a module it gets one that has no kind that a filter could name.
        static const Kind module_kind("module", nullptr);
        static const Variable module(module_kind, Tensor());
        const Variable* variable = node.get_if<Variable>();
        return filter(node.path(), variable == nullptr ? module : *variable);
      }) {}

NodeFilter operator&&(const NodeFilter& a, const NodeFilter& b) {
  return NodeFilter([a, b](const GraphNode& node) { return a(node) && b(node); });
}
NodeFilter operator||(const NodeFilter& a, const NodeFilter& b) {
  return NodeFilter([a, b](const GraphNode& node) { return a(node) || b(node); });
}
NodeFilter operator!(const NodeFilter& filter) {
  return NodeFilter([filter](const GraphNode& node) { return !filter(node); });
}

}  // namespace strata::nn
