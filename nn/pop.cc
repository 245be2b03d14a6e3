// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/pop.h"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "strata/state/internal/listing.h"
#include "strata/state/internal/state_access.h"
#include "strata/state/internal/walk.h"
#include "strata/tensor/error.h"

namespace strata::nn::internal {
namespace {

using strata::internal::KeyView;
using strata::internal::Node;
using strata::internal::Role;
using strata::internal::Trail;

// How a variable leaves the place where it stands.
struct Removal {
  Node place;  // a holder that is emptied, or a container that an element is erased from
  std::optional<KeyView> element;

  void carry_out() const {
    if (element) {
      place.type->erase(place.object, *element);
    } else {
      place.type->clear(place.object);
    }
  }
};

class Popper final : public strata::internal::WalkHandler {
 public:
  explicit Popper(std::span<const Filter> filters) : filters_(filters), groups_(filters.size()) {}

  void group(const Trail& trail, Node node) override {
    parents_.resize(static_cast<std::size_t>(trail.depth()));
    parents_.push_back(node);
  }
  void holder(const Trail& trail, Node place, Node) override { enter(trail, place); }
  void shared(const Trail& trail, Node place, Node target, Index, bool first) override {
    enter(trail, place);
    if (!first && popped_.contains(strata::internal::identity(object_at(target)))) removals_.push_back(*removal(trail));
  }

  void variable(const Trail& trail, Variable& variable, Node place) override {
    enter(trail, {});
    const Path path = trail.path();
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      if (!filters_[i](path, variable)) continue;
      if (const std::optional<Removal> found = removal(trail)) {
        removals_.push_back(*found);
      } else {
        fixed_.push_back(strata::internal::shown(path) + " (" + describe(variable) + ")");
      }
      popped_.insert(strata::internal::identity(place));
      groups_[i].push_back({path, variable});
      return;
    }
  }

  std::vector<State> finish() {
    if (!fixed_.empty()) {
      throw StateError("[pop] plain fields cannot be popped: " + strata::internal::list_offenders(fixed_) +
                       ". Put them into a std::optional. Nothing was changed.");
    }
    // Backwards, since erasing moves what stands behind.
    for (auto last = removals_.rbegin(); last != removals_.rend(); ++last) last->carry_out();
    std::vector<State> states;
    for (auto& group : groups_) states.push_back(strata::internal::StateAccess::from_sorted(std::move(group)));
    return states;
  }

 private:
  static Node object_at(Node place) {
    while (place.object != nullptr && (place.type->role == Role::holder || place.type->role == Role::shared)) {
      place = place.type->target(place.object);
    }
    return place;
  }

  // Notes the holders at the place of the walk; a new place begins with none.
  void enter(const Trail& trail, Node holder) {
    const std::uint64_t step = trail.empty() ? 0 : trail[trail.depth() - 1].number;
    if (step != step_) holders_.clear();
    step_ = step;
    if (holder.object != nullptr) holders_.push_back(holder);
  }

  // An element of a map goes with its key; otherwise the outermost holder that can be empty is emptied, so that the
  // positions in a list of holders stay; an element of a vector goes if there is no other way.
  [[nodiscard]] std::optional<Removal> removal(const Trail& trail) const {
    const Node parent = trail.empty() ? Node{} : parents_[static_cast<std::size_t>(trail.depth()) - 1];
    const bool erasable = parent.object != nullptr && parent.type->erase != nullptr;
    if (erasable && !parent.type->moves_up) return Removal{parent, trail.back()};
    for (const Node& holder : holders_) {
      if (holder.type->clear != nullptr) return Removal{holder, std::nullopt};
    }
    if (erasable) return Removal{parent, trail.back()};
    return std::nullopt;
  }

  std::span<const Filter> filters_;
  std::vector<Node> parents_;  // the groups that lead to the place
  std::vector<Node> holders_;  // those that stand between the parent and the object, outermost first
  std::uint64_t step_ = 0;
  std::vector<std::vector<State::Entry>> groups_;
  std::vector<Removal> removals_;  // in the order of the walk
  std::set<strata::internal::Identity> popped_;
  std::vector<std::string> fixed_;
};

}  // namespace

std::vector<State> pop(Node root, std::span<const Filter> filters) {
  if (filters.empty()) throw ValueError("[pop] there is no filter. Say what to pop, or give strata::everything.");
  Popper popper(filters);
  strata::internal::walk(root, popper);
  return popper.finish();
}

}  // namespace strata::nn::internal
