// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "strata/state/internal/clone.h"
#include "strata/state/internal/fitting.h"

namespace strata {

template <class M>
class GraphDef;

namespace internal {

// Compare, hash and print what is left of a module when the values of its variables are taken out.
bool equal_graphs(Node a, Node b);
std::size_t hash_graph(Node root);
std::string graph_text(Node root);

// A module without the values of its variables, which remembers what shapes they had.
template <class M>
struct Prototype {
  Prototype(const M& original, bool walked) : module(copy_or_queue(original)) {
    PendingCopies pending;
    queue_copy(module, original, pending);
    blank = finish_blank_clone(node_of(module), node_of(original), pending, walked);
  }
  Prototype(const Prototype&) = delete;
  Prototype& operator=(const Prototype&) = delete;
  ~Prototype() {
    if (blank.needs_dismantling) dismantle(node_of(module));
  }

  M module;
  BlankClone blank;
};

template <class M>
GraphDef<M> graph_of_walked(const M& module);

}  // namespace internal

// What is left of a module of type M when the values of its variables are taken out: the types of its parts, their
// names, plain values, kinds and metadata of variables, and which places share an object. Copies cost O(1).
//
// Two are equal, and hash alike, if all of that is equal; values and shapes of variables play no part.
template <class M>
class GraphDef {
 public:
  explicit GraphDef(const M& module) : GraphDef(module, false) {}

  // A new module with the given values, each in one of the states. Throws StateError that lists all paths that are
  // missing, unexpected, given twice, or differ in shape, element type or kind.
  [[nodiscard]] M build(std::span<const State* const> states) const {
    M module = internal::clone(prototype_->module);
    try {
      internal::fill_variables(internal::node_of(module), prototype_->blank.forms, states);
    } catch (...) {
      if (prototype_->blank.needs_dismantling) internal::dismantle(internal::node_of(module));
      throw;
    }
    return module;
  }
  [[nodiscard]] M build(const State& state) const {
    const State* const one = &state;
    return build({&one, 1});
  }

  bool operator==(const GraphDef& other) const {
    return prototype_ == other.prototype_ || internal::equal_graphs(root(), other.root());
  }
  [[nodiscard]] std::size_t hash() const { return internal::hash_graph(root()); }

  friend std::string to_string(const GraphDef& graph) { return internal::graph_text(graph.root()); }

 private:
  friend GraphDef internal::graph_of_walked<M>(const M& module);

  GraphDef(const M& module, bool walked) : prototype_(std::make_shared<internal::Prototype<M>>(module, walked)) {}
  [[nodiscard]] internal::Node root() const { return internal::node_of(prototype_->module); }

  std::shared_ptr<internal::Prototype<M>> prototype_;
};

// The graph definition of a module that was walked through just now.
template <class M>
GraphDef<M> internal::graph_of_walked(const M& module) {
  return GraphDef<M>(module, true);
}

template <class M>
std::ostream& operator<<(std::ostream& out, const GraphDef<M>& graph) {
  return out << to_string(graph);
}

}  // namespace strata

template <class M>
struct std::hash<strata::GraphDef<M>> {
  std::size_t operator()(const strata::GraphDef<M>& graph) const { return graph.hash(); }
};
