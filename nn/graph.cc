// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/graph.h"

#include <algorithm>
#include <utility>

#include "strata/state/internal/walk.h"

namespace strata::nn::internal {
namespace {

using strata::internal::KeyView;
using strata::internal::Node;
using strata::internal::Role;
using strata::internal::Trail;

// A walk meets parents first; each waits here until all that is below it was met.
class NodeLister final : public strata::internal::WalkHandler {
 public:
  explicit NodeLister(bool with_variables) : with_variables_(with_variables) {}

  void group(const Trail& trail, Node node) override {
    close(trail.depth());
    open_.emplace_back(trail.path(), node);
  }
  void variable(const Trail& trail, Variable&, Node place) override {
    if (!with_variables_) return;
    close(trail.depth());
    nodes_.emplace_back(trail.path(), place);
  }

  std::vector<GraphNode> finish() {
    close(0);
    return std::move(nodes_);
  }

 private:
  void close(int depth) {
    for (; !open_.empty() && open_.back().path().depth() >= depth; open_.pop_back()) {
      nodes_.push_back(std::move(open_.back()));
    }
  }

  bool with_variables_;
  std::vector<GraphNode> nodes_;
  std::vector<GraphNode> open_;
};

// The object that a place stands for: itself, or what it holds.
Node object_at(Node place) {
  while (place.object != nullptr && (place.type->role == Role::holder || place.type->role == Role::shared)) {
    place = place.type->target(place.object);
  }
  return place;
}

class ChildLister final : public strata::internal::ChildVisitor {
 public:
  void child(const KeyView& key, Node place) override {
    const Node node = object_at(place);
    if (node.object != nullptr && node.type->role != Role::value) nodes.emplace_back(Path{Key(key)}, node);
  }

  std::vector<GraphNode> nodes;
};

class DuplicateFinder final : public strata::internal::WalkHandler {
 public:
  explicit DuplicateFinder(const NodeFilter& only) : only_(only), paths_(1, {Path()}) {}

  void shared(const Trail& trail, Node, Node target, Index number, bool first) override {
    paths_.resize(std::max(paths_.size(), static_cast<std::size_t>(number) + 1));
    const Path path = trail.path();
    const Node object = object_at(target);
    if (first || (object.object != nullptr && only_(GraphNode(path, object)))) {
      paths_[static_cast<std::size_t>(number)].push_back(path);
    }
  }

  std::vector<std::vector<Path>> groups() {
    std::erase_if(paths_, [](const auto& paths) { return paths.size() < 2; });
    return std::move(paths_);
  }

 private:
  const NodeFilter& only_;
  std::vector<std::vector<Path>> paths_;  // by the number of the object; the root has number 0
};

std::vector<GraphNode> list(Node root, bool with_variables) {
  NodeLister lister(with_variables);
  strata::internal::walk(root, lister);
  return lister.finish();
}

}  // namespace

std::vector<GraphNode> list_nodes(Node root) { return list(root, true); }
std::vector<GraphNode> list_modules(Node root) { return list(root, false); }

std::vector<GraphNode> list_children(Node root) {
  ChildLister lister;
  const Node object = object_at(root);
  if (object.object != nullptr && object.type->role == Role::group) object.type->children(object.object, lister);
  return std::move(lister.nodes);
}

std::vector<std::vector<Path>> list_duplicates(Node root, const NodeFilter& only) {
  DuplicateFinder finder(only);
  strata::internal::walk(root, finder);
  return finder.groups();
}

}  // namespace strata::nn::internal
