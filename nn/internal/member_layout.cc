// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/member_layout.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "strata/nn/internal/member_axis.h"
#include "strata/nn/stack_states.h"
#include "strata/state/graph_def.h"
#include "strata/state/internal/listing.h"
#include "strata/state/internal/walk.h"
#include "strata/tensor/error.h"

namespace strata::nn::internal {
namespace {

using strata::internal::collect_leaves;
using strata::internal::KeyView;
using strata::internal::Leaf;
using strata::internal::list_offenders;
using strata::internal::Node;
using strata::internal::Trail;

// Another path to an object than the one that its variables are filed under.
struct OtherPath {
  Path path;
  Node target;
};

class OtherPaths final : public strata::internal::WalkHandler {
 public:
  void shared(const Trail& trail, Node, Node target, Index, bool first) override {
    if (!first && target.object != nullptr) found.push_back({trail.path(), target});
  }

  std::vector<OtherPath> found;
};

std::string axis_text(MemberAxis axis) { return axis ? "axis " + std::to_string(*axis) : "shared"; }

class VisitorWithLayout final : public strata::internal::ChildVisitor {
 public:
  VisitorWithLayout(strata::internal::ChildVisitor& visitor, Node layout) : visitor_(visitor), layout_(layout) {}

  void child(const KeyView& key, Node node) override {
    if (!key.is_integer && key.text > name) finish();
    visitor_.child(key, node);
  }

  void finish() {
    if (!std::exchange(done_, true)) visitor_.child(KeyView(name), layout_);
  }

 private:
  static constexpr std::string_view name = "(members)";  // no field has such a name

  strata::internal::ChildVisitor& visitor_;
  Node layout_;
  bool done_ = false;
};

}  // namespace

const MemberLayout::Place* MemberLayout::find(const Path& path) const {
  const auto place = std::lower_bound(places.begin(), places.end(), path,
                                      [](const Place& p, const Path& wanted) { return p.path < wanted; });
  return place != places.end() && place->path == path ? &*place : nullptr;
}

std::string to_string(const MemberLayout& layout) {
  return std::to_string(layout.size) + " members, " + to_string(layout.axes);
}

MemberLayout stack_members(Node stacked, std::span<const Node> members, const StateAxes& axes) {
  std::vector<State> states;
  for (const Node& member : members) states.push_back(strata::internal::state_of(member));
  check_shared_objects(stacked, states.front(), axes);
  const State stacked_state = stack_states(states, axes);
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (strata::internal::equal_graphs(members.front(), members[i])) continue;
    throw StateError(
        "[stacked module] member " + std::to_string(i) +
        " differs from the first in a plain value, a type, or in what it shares. Members may differ in the "
        "values of variables alone.");
  }
  MemberLayout layout{static_cast<Index>(members.size()), axes, {}};
  const std::vector<MemberAxis> found = axes.axes_of(states.front());
  const std::vector<Leaf> leaves = collect_leaves(stacked);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i].variable->reset(stacked_state.begin()[static_cast<std::ptrdiff_t>(i)].variable.value());
    layout.places.push_back({leaves[i].path, found[i]});
  }
  return layout;
}

void check_shared_objects(Node module, const State& state, const StateAxes& axes) {
  OtherPaths others;
  strata::internal::walk(module, others);
  if (others.found.empty()) return;
  std::unordered_map<const Variable*, std::size_t> positions;
  const std::vector<Leaf> leaves = collect_leaves(module);
  for (std::size_t i = 0; i < leaves.size(); ++i) positions.emplace(leaves[i].variable, i);
  const std::vector<MemberAxis> found = axes.axes_of(state);
  std::vector<std::string> offenders;
  for (const OtherPath& other : others.found) {
    for (const Leaf& leaf : collect_leaves(other.target)) {
      const Path path = other.path / leaf.path;
      const std::size_t first = positions.at(leaf.variable);
      const MemberAxis axis = axes.axes_of(State{{path, *leaf.variable}}).front();
      if (axis == found[first]) continue;
      offenders.push_back(to_string(leaves[first].path) + " (" + axis_text(found[first]) + ") is also " +
                          to_string(path) + " (" + axis_text(axis) + ")");
    }
  }
  if (!offenders.empty()) {
    throw StateError("[stacked module] shared objects have one axis, but here two: " + list_offenders(offenders) +
                     ". Write filters that take all their paths.");
  }
}

std::vector<Leaf> leaves_of(Node stacked, const MemberLayout& layout) {
  std::vector<Leaf> leaves = collect_leaves(stacked);
  std::vector<std::string> offenders;
  for (const Leaf& leaf : leaves) {
    if (layout.find(leaf.path) == nullptr) offenders.push_back(to_string(leaf.path) + " is new");
  }
  for (const MemberLayout::Place& place : layout.places) {
    const auto by_path = [](const Leaf& leaf, const Path& wanted) { return leaf.path < wanted; };
    const auto leaf = std::lower_bound(leaves.begin(), leaves.end(), place.path, by_path);
    if (leaf == leaves.end() || leaf->path != place.path) offenders.push_back(to_string(place.path) + " is missing");
  }
  if (!offenders.empty()) {
    throw StateError("[stacked module] the variables are not those that were stacked: " + list_offenders(offenders) +
                     ".");
  }
  std::vector<MemberAxis> axes;
  for (const MemberLayout::Place& place : layout.places) axes.push_back(place.axis);
  check_member_axes(strata::internal::state_of(leaves), axes, layout.size, "stacked module");
  return leaves;
}

void take_member(Node module, Node stacked, const MemberLayout& layout, Index member) {
  if (member < 0 || member >= layout.size) {
    throw ValueError("[stacked module] there is no member " + std::to_string(member) + "; there are " +
                     std::to_string(layout.size) + ".");
  }
  const std::vector<Leaf> from = leaves_of(stacked, layout);
  const std::vector<Leaf> to = collect_leaves(module);
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i].variable->reset(member_of(from[i].variable->value(), layout.places[i].axis, member));
  }
}

void visit_stacked(Node module, Node layout, strata::internal::ChildVisitor& visitor) {
  VisitorWithLayout with_layout(visitor, layout);
  module.type->children(module.object, with_layout);
  with_layout.finish();
}

}  // namespace strata::nn::internal
