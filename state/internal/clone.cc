// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/clone.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <unordered_set>
#include <vector>

#include "strata/state/internal/listing.h"
#include "strata/state/internal/walk.h"
#include "strata/tensor/error.h"

namespace strata::internal {
namespace {

void carry_out(PendingCopies& pending) {
  while (!pending.entries.empty()) {
    const PendingCopies::Entry next = pending.entries.back();
    pending.entries.pop_back();
    next.type->copy(next.to, next.from, pending);
  }
}

class SharedReplacer : public WalkHandler {
 public:
  SharedReplacer(Node original, PendingCopies& pending) : original_root_(identity(original)), pending_(pending) {}

  void shared(const Trail& trail, Node place, Node target, Index number, bool first) override {
    if (identity(target) == original_root_) {
      if (!way_back_) way_back_ = trail.path();
      place.type->set_target(place.object, nullptr);
      return;
    }
    fresh_.resize(std::max(fresh_.size(), static_cast<std::size_t>(number) + 1));
    std::shared_ptr<void>& fresh = fresh_[static_cast<std::size_t>(number)];
    if (first) {
      fresh = place.type->copy_target(place.object, pending_);
      carry_out(pending_);
    } else {
      met_again_ = true;
    }
    place.type->set_target(place.object, fresh);
  }

  [[nodiscard]] bool replaced_any() const noexcept { return !fresh_.empty(); }

  // The objects that the copy alone holds.
  [[nodiscard]] const std::vector<std::shared_ptr<void>>& fresh() const noexcept { return fresh_; }

  // An object stands in several places: there may be cycles.
  [[nodiscard]] bool met_again() const noexcept { return met_again_; }

  // Where the module first leads back to the root of the original.
  [[nodiscard]] const std::optional<Path>& way_back() const noexcept { return way_back_; }

 private:
  Identity original_root_;
  PendingCopies& pending_;
  std::vector<std::shared_ptr<void>> fresh_;  // by the number of the object that the original shares
  bool met_again_ = false;
  std::optional<Path> way_back_;
};

// Takes the values out of variables on the way.
class Blanker final : public SharedReplacer {
 public:
  using SharedReplacer::SharedReplacer;

  void variable(const Trail& trail, Variable& variable, Node) override {
    forms.add(form_of(variable.value()));
    variable.reset(blank_);
    deepest = std::max(deepest, trail.depth());
  }
  void group(const Trail& trail, Node) override { deepest = std::max(deepest, trail.depth()); }

  Forms forms;
  int deepest = 0;

 private:
  Tensor blank_;
};

// Takes owners out of the places that hold them, so that what they own is destroyed in a loop.
class OwnerCollector : public WalkHandler {
 public:
  void holder(const Trail&, Node place, Node target) override {
    if (target.object != nullptr && place.type->take_target != nullptr) places_.push_back(place);
  }
  void shared(const Trail&, Node place, Node, Index, bool) override { places_.push_back(place); }

  // Owners are taken from the outside in, while the objects that hold the inner ones are still kept by those taken
  // before.
  void take_all() {
    std::vector<std::shared_ptr<void>> owners;
    owners.reserve(places_.size());
    for (const Node& place : places_) owners.push_back(place.type->take_target(place.object));
  }

 private:
  std::vector<Node> places_;
};

// The same for a copy that is not finished: where it still shares objects with the original, it lets go of them.
class UnfinishedCollector final : public OwnerCollector {
 public:
  explicit UnfinishedCollector(const std::vector<std::shared_ptr<void>>& fresh) {
    for (const std::shared_ptr<void>& object : fresh) fresh_.insert(object.get());
  }

  void shared(const Trail& trail, Node place, Node target, Index number, bool first) override {
    if (fresh_.contains(target.object)) {
      OwnerCollector::shared(trail, place, target, number, first);
    } else {
      place.type->set_target(place.object, nullptr);
    }
  }

 private:
  std::unordered_set<const void*> fresh_;
};

void dismantle_unfinished(Node root, const std::vector<std::shared_ptr<void>>& fresh) noexcept {
  try {
    UnfinishedCollector collector(fresh);
    walk(root, collector);
    collector.take_all();
  } catch (const std::exception&) {
    // No memory, or no way through: then the copy comes down as its destructors do it.
  }
}

void replace_shared(Node root, Node original, PendingCopies& pending, SharedReplacer& replacer, bool walked) {
  try {
    carry_out(pending);
    walk(root, replacer);
    WalkHandler checks_only;
    if (!walked && replacer.replaced_any()) walk(original, checks_only);
    if (!replacer.way_back()) return;
    throw StateError("[clone] \"" + shown(*replacer.way_back()) +
                     "\" leads back to the module itself. Clone, split or merge the shared_ptr that owns it.");
  } catch (...) {
    dismantle_unfinished(root, replacer.fresh());  // which may hold cycles, or chains that would overflow the stack
    throw;
  }
}

}  // namespace

void finish_clone(Node root, Node original, PendingCopies& pending) {
  SharedReplacer replacer(original, pending);
  replace_shared(root, original, pending, replacer, false);
}

BlankClone finish_blank_clone(Node root, Node original, PendingCopies& pending, bool walked) {
  // Destructors recurse through owners; this deep they certainly may.
  constexpr int harmless_depth = 100;
  Blanker blanker(original, pending);
  replace_shared(root, original, pending, blanker, walked);
  return {std::move(blanker.forms), blanker.met_again() || blanker.deepest > harmless_depth};
}

void dismantle(Node root) {
  OwnerCollector collector;
  walk(root, collector);
  collector.take_all();
}

}  // namespace strata::internal
