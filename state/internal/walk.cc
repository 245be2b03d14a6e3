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
    numbers_.emplace(identity(root), 0);
    visit(root);
    while (!pending_.empty()) {
      Pending next = std::move(pending_.back());
      pending_.pop_back();
      keys_.resize(next.depth, Key(0));
      keys_.push_back(std::move(next.key));
      if (next.node.type->role == Role::variable || next.node.type->role == Role::group) {
        members_.push_back(identity(next.node));
      }
      visit(next.node);
    }
    check_members();
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
    const auto [entry, first] = numbers_.emplace(identity(target), static_cast<Index>(numbers_.size()));
    const Index number = entry->second;
    handler_.shared(keys_, place, target, number, first);
    return first ? place.type->target(place.object) : Node{};
  }

  // A shared_ptr to a member of another object (of the aliasing kind) would give one variable two paths and copies of
  // its own.
  void check_members() const {
    if (numbers_.size() == 1) return;  // nothing is shared
    for (const Identity& member : members_) {
      if (!numbers_.contains(member)) continue;
      throw StateError("[module] a shared_ptr points to a " + std::string(member.second->name) +
                       " that is a member of another part of the module. Let both places hold a shared_ptr to it.");
    }
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
  std::unordered_map<Identity, Index, IdentityHash> numbers_;  // of the root and of shared objects
  std::vector<Identity> members_;                              // objects that stand in others by value
};

}  // namespace

void walk(Node root, WalkHandler& handler) { Walk(handler).run(root); }

void throw_derived_pointee(std::string_view base, const char* dynamic_type) {
  throw StateError("[module] a pointer to " + std::string(base) + " holds an object of the derived class " +
                   dynamic_type +
                   ", whose fields cannot be seen through it. Use std::variant for a choice of modules.");
}

}  // namespace strata::internal
