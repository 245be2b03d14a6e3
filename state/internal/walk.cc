// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/walk.h"

#include <algorithm>
#include <utility>

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
    while (put_off_last_first()) {
      const Place next = pending_.back();
      pending_.pop_back();
      depth_ = next.depth;
      enter(next.key, next.node);
    }
    check_members();
  }

 private:
  // A child that is still to be visited.
  struct Place {
    KeyView key;
    Node node;
    std::size_t depth;  // number of keys before `key`
  };

  void child(const KeyView& key, Node node) override {
    if (putting_off_) {
      put_off_.push_back({key, node, depth_});
    } else {
      enter(key, node);
    }
  }

  void enter(const KeyView& key, Node node) {
    trail_.go_to(depth_, key);
    if (node.type->role == Role::variable || node.type->role == Role::group) members_.push_back(identity(node));
    visit(node);
  }

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
        visit_children(node);
    }
  }

  // Recursion is the fastest way through a module, but it goes no deeper than this. From there on, whatever is met
  // until it has returned is put off.
  void visit_children(Node node) {
    constexpr int deepest_call = 64;
    const std::size_t depth_before = std::exchange(depth_, static_cast<std::size_t>(trail_.depth()));
    if (++calls_ == deepest_call) putting_off_ = true;
    node.type->children(node.object, *this);
    --calls_;
    depth_ = depth_before;
  }

  // Moves what was put off to the pending places, of which the last is visited first. False if there is none.
  bool put_off_last_first() {
    pending_.insert(pending_.end(), put_off_.rbegin(), put_off_.rend());
    put_off_.clear();
    putting_off_ = false;
    return !pending_.empty();
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

  WalkHandler& handler_;
  Trail trail_;
  std::size_t depth_ = 0;  // number of keys of the group whose children are visited
  int calls_ = 0;          // of visit_children, one in another
  bool putting_off_ = false;
  std::vector<Place> put_off_;                 // in order
  std::vector<Place> pending_;                 // the last is next
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
  for (; known < last; ++known) path = steps_[known].path = builder_.append(path, steps_[known].key);
  return builder_.append(path, steps_[last].key);
}

void walk(Node root, WalkHandler& handler) { Walk(handler).run(root); }

void throw_derived_pointee(std::string_view base, const char* dynamic_type) {
  throw StateError("[module] a pointer to " + std::string(base) + " holds an object of the derived class " +
                   dynamic_type +
                   ", whose fields cannot be seen through it. Use std::variant for a choice of modules.");
}

}  // namespace strata::internal
