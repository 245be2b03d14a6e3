// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/walk.h"

#include <algorithm>

#include "strata/state/internal/identity_table.h"
#include "strata/tensor/error.h"

namespace strata::internal {
namespace {

class Walk final : ChildVisitor {
 public:
  explicit Walk(WalkHandler& handler) : handler_(handler) {}

  void run(Node root) {
    numbers_.add(identity(root));
    visit(root);
    while (!pending_.empty()) {
      const Pending next = pending_.back();
      pending_.pop_back();
      trail_.go_to(next.depth, next.key);
      if (next.node.type->role == Role::variable || next.node.type->role == Role::group) {
        members_.push_back(identity(next.node));
      }
      visit(next.node);
    }
    check_members();
  }

 private:
  struct Pending {
    KeyView key;
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
        return handler_.variable(trail_, *node.type->variable(node.object), node);
      case Role::value:
        return handler_.value(trail_, node);
      default:
        handler_.group(trail_, node);
        push_children(node);
    }
  }

  // What the place stands for; null if there is nothing or it was visited before.
  Node follow(Node place) {
    const Node target = place.type->target(place.object);
    if (place.type->role == Role::holder || target.object == nullptr) {
      handler_.holder(trail_, place, target);
      return target;
    }
    const auto [number, first] = numbers_.add(identity(target));
    if (first && std::find(shared_types_.begin(), shared_types_.end(), target.type) == shared_types_.end()) {
      shared_types_.push_back(target.type);
    }
    handler_.shared(trail_, place, target, number, first);
    return first ? place.type->target(place.object) : Node{};
  }

  // A shared_ptr to a member of another object (of the aliasing kind) would give one variable two paths and copies of
  // its own.
  void check_members() const {
    for (const Identity& member : members_) {
      if (std::find(shared_types_.begin(), shared_types_.end(), member.second) == shared_types_.end()) continue;
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

  void child(Index position, Node node) override { pending_.push_back({KeyView{{}, position, true}, node, static_cast<std::size_t>(trail_.depth())}); }
  void child(std::string_view name, Node node) override { pending_.push_back({KeyView{name}, node, static_cast<std::size_t>(trail_.depth())}); }

  WalkHandler& handler_;
  Trail trail_;
  std::vector<Pending> pending_;
  IdentityTable numbers_;                      // of the root and of shared objects
  std::vector<const NodeType*> shared_types_;  // of shared objects: few, and members are rarely of one of them
  std::vector<Identity> members_;              // objects that stand in others by value
};

}  // namespace

Path Trail::path() const {
  if (steps_.empty()) return Path();
  const std::size_t last = steps_.size() - 1;
  std::size_t known = last;
  while (known > 0 && steps_[known - 1].path.empty()) --known;
  Path path = known > 0 ? steps_[known - 1].path : Path();
  for (; known < last; ++known) path = steps_[known].path = path / steps_[known].key.key();
  return path / steps_[last].key.key();
}

void walk(Node root, WalkHandler& handler) { Walk(handler).run(root); }

void throw_derived_pointee(std::string_view base, const char* dynamic_type) {
  throw StateError("[module] a pointer to " + std::string(base) + " holds an object of the derived class " +
                   dynamic_type +
                   ", whose fields cannot be seen through it. Use std::variant for a choice of modules.");
}

}  // namespace strata::internal
