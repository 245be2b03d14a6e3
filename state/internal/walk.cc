// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/walk.h"

#include <algorithm>
#include <utility>

#include "strata/state/internal/identity_table.h"
#include "strata/tensor/error.h"

namespace strata::internal {
namespace {

// A few types, mostly asked about the same one again.
class TypeSet {
 public:
  void add(const NodeType* type) {
    if (type == last_) return;
    last_ = type;
    if (!contains(type)) types_.push_back(type);
  }
  [[nodiscard]] bool contains(const NodeType* type) const {
    return std::find(types_.begin(), types_.end(), type) != types_.end();
  }
  [[nodiscard]] bool meets(const TypeSet& other) const {
    return std::any_of(types_.begin(), types_.end(), [&](const NodeType* type) { return other.contains(type); });
  }

 private:
  std::vector<const NodeType*> types_;
  const NodeType* last_ = nullptr;
};

// Throws StateError for a shared_ptr to a member of another object (of the aliasing kind), which would give one
// variable two paths and copies of its own.
class MemberCheck final : public WalkHandler {
 public:
  MemberCheck(Node root, const IdentityTable& targets) : target_(identity(root)), targets_(targets) {}

  void variable(const Trail&, Variable&, Node place) override { check(place); }
  void group(const Trail&, Node node) override { check(node); }
  void shared(const Trail&, Node, Node target, Index, bool first) override {
    if (first) target_ = identity(target);
  }

 private:
  void check(Node node) {
    const bool is_target = std::exchange(target_, {}) == identity(node);
    if (is_target || !targets_.contains(identity(node))) return;
    throw StateError("[module] a shared_ptr points to a " + std::string(node.type->name) +
                     " that is a member of another part of the module. Let both places hold a shared_ptr to it.");
  }

  Identity target_;  // of the shared_ptr that the walk comes from
  const IdentityTable& targets_;
};

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
  }

  // Members are rarely of a type that a shared_ptr leads to; only then must they be looked at.
  void check_members(Node root) const {
    if (!member_types_.meets(shared_types_)) return;
    MemberCheck check(root, numbers_);
    Walk(check).run(root);
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
    if (node.type->role == Role::variable || node.type->role == Role::group) member_types_.add(node.type);
    visit(node);
  }

  // Holders in holders are as deep as their C++ type is.
  void visit(Node node) {
    if (node.object == nullptr) return;
    switch (node.type->role) {
      case Role::variable:
        return handler_.variable(trail_, *node.type->variable(node.object), node);
      case Role::value:
        return handler_.value(trail_, node);
      case Role::group:
        handler_.group(trail_, node);
        return visit_children(node);
      default:
        return visit(follow(node));
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
    shared_types_.add(target.type);
    handler_.shared(trail_, place, target, number, first);
    return first ? place.type->target(place.object) : Node{};
  }

  WalkHandler& handler_;
  Trail trail_;
  std::size_t depth_ = 0;  // number of keys of the group whose children are visited
  int calls_ = 0;          // of visit_children, one in another
  bool putting_off_ = false;
  std::vector<Place> put_off_;  // in order
  std::vector<Place> pending_;  // the last is next
  IdentityTable numbers_;       // of the root and of shared objects
  TypeSet shared_types_;        // of shared objects
  TypeSet member_types_;        // of objects that stand in others by value
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

void walk(Node root, WalkHandler& handler) {
  Walk walk(handler);
  walk.run(root);
  walk.check_members(root);
}

void throw_derived_pointee(std::string_view base, const char* dynamic_type) {
  throw StateError("[module] a pointer to " + std::string(base) + " holds an object of the derived class " +
                   dynamic_type +
                   ", whose fields cannot be seen through it. Use std::variant for a choice of modules.");
}

}  // namespace strata::internal
