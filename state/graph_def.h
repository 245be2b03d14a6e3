// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "strata/state/internal/clone.h"
#include "strata/state/internal/leaves.h"

namespace strata {

namespace internal {

// Compare, hash and print what is left of a module when the values of its variables are taken out.
bool equal_graphs(Node a, Node b);
std::size_t hash_graph(Node root);
std::string graph_text(Node root);

// A module without the values of its variables, which remembers what shapes they had.
template <class M>
struct Prototype {
  explicit Prototype(M copy) : module(std::move(copy)) {
    const std::vector<Leaf> leaves = collect_leaves(node_of(module));
    expected = expect(leaves);
    for (const Leaf& leaf : leaves) leaf.variable->reset(Tensor());
  }
  Prototype(const Prototype&) = delete;
  Prototype& operator=(const Prototype&) = delete;
  ~Prototype() { dismantle(node_of(module)); }

  M module;
  std::vector<Expected> expected;
};

}  // namespace internal

// What is left of a module of type M when the values of its variables are taken out: the types of its parts, their
// names, plain values, kinds and metadata of variables, and which places share an object. Copies cost O(1).
//
// Two are equal, and hash alike, if all of that is equal; values and shapes of variables play no part.
template <class M>
class GraphDef {
 public:
  explicit GraphDef(const M& module) : prototype_(std::make_shared<internal::Prototype<M>>(internal::clone(module))) {}

  // A new module with the given values. Throws StateError that lists all paths that are missing, unexpected, or differ
  // in shape, element type or kind.
  [[nodiscard]] M build(const State& state) const {
    internal::check_fit(prototype_->expected, state, internal::Fit::whole, "merge");
    M module = internal::clone(prototype_->module);
    internal::assign_leaves(internal::collect_leaves(internal::node_of(module)), state, internal::Fit::whole);
    return module;
  }

  bool operator==(const GraphDef& other) const {
    return prototype_ == other.prototype_ || internal::equal_graphs(root(), other.root());
  }
  [[nodiscard]] std::size_t hash() const { return internal::hash_graph(root()); }

  friend std::string to_string(const GraphDef& graph) { return internal::graph_text(graph.root()); }

 private:
  [[nodiscard]] internal::Node root() const { return internal::node_of(prototype_->module); }

  std::shared_ptr<internal::Prototype<M>> prototype_;
};

template <class M>
std::ostream& operator<<(std::ostream& out, const GraphDef<M>& graph) {
  return out << to_string(graph);
}

}  // namespace strata

template <class M>
struct std::hash<strata::GraphDef<M>> {
  std::size_t operator()(const strata::GraphDef<M>& graph) const { return graph.hash(); }
};
