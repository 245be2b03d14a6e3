// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/walk.h"

#include <algorithm>
#include <unordered_map>

#include "strata/tensor/error.h"

namespace strata::internal {
namespace {

class Walk final : ChildVisitor {
 public:
  explicit Walk(WalkHandler& handler) : handler_(handler) {}

  void run(Node root) {
    numbers_.emplace(root.object, 0);
    visit(root);
    while (!pending_.empty()) {
      Pending next = std::move(pending_.back());
      pending_.pop_back();
      keys_.resize(next.depth, Key(0));
      keys_.push_back(std::move(next.key));
      visit(next.node);
    }
  }

 private:
  struct Pending {
    Key key;
    Node node;
    std::size_t depth;  // number of keys before `key`
  };

  void visit(Node node) {
    while (node.object != nullptr && (node.type->role == Role::holder || node.type->role == Role::shared)) {
      node = follow(node);
    }
    if (node.object == nullptr) return;
    switch (node.type->role) {
      case Role::variable:
        return handler_.variable(keys_, *node.type->variable(node.object), node);
      case Role::value:
        return handler_.value(keys_, node);
      default:
        handler_.group(keys_, node);
        push_children(node);
    }
  }

  // What the place stands for; null if there is nothing or it was visited before.
  Node follow(Node place) {
    const Node target = place.type->target(place.object);
    if (place.type->role == Role::holder || target.object == nullptr) {
      handler_.holder(keys_, place, target);
      return target;
    }
    const auto [entry, first] = numbers_.emplace(target.object, static_cast<Index>(numbers_.size()));
    const Index number = entry->second;
    handler_.shared(keys_, place, target, number, first);
    return first ? place.type->target(place.object) : Node{};
  }

  // The last pushed is visited first.
  void push_children(Node node) {
    const auto begin = static_cast<std::ptrdiff_t>(pending_.size());
    node.type->children(node.object, *this);
    std::reverse(pending_.begin() + begin, pending_.end());
  }

  void child(Index position, Node node) override { pending_.push_back({Key(position), node, keys_.size()}); }
  void child(std::string_view name, Node node) override { pending_.push_back({Key(name), node, keys_.size()}); }

  WalkHandler& handler_;
  std::vector<Key> keys_;
  std::vector<Pending> pending_;
  std::unordered_map<const void*, Index> numbers_;
};

}  // namespace

void walk(Node root, WalkHandler& handler) { Walk(handler).run(root); }

void throw_derived_pointee(std::string_view base, const char* dynamic_type) {
  throw StateError("[module] a pointer to " + std::string(base) + " holds an object of the derived class " +
                   dynamic_type +
                   ", whose fields cannot be seen through it. Use std::variant for a choice of modules.");
}

}  // namespace strata::internal
