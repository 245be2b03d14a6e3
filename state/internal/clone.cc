// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/clone.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

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

class SharedReplacer final : public WalkHandler {
 public:
  SharedReplacer(Node original, PendingCopies& pending) : original_root_(identity(original)), pending_(pending) {}

  void shared(std::span<const Key> keys, Node place, Node target, Index, bool) override {
    if (identity(target) == original_root_) {
      if (!way_back_) way_back_ = Path(std::vector<Key>(keys.begin(), keys.end()));
      place.type->set_target(place.object, nullptr);
      return;
    }
    if (ours_.contains(identity(target))) return;
    std::shared_ptr<void>& fresh = fresh_[identity(target)];
    if (!fresh) {
      fresh = place.type->copy_target(place.object, pending_);
      carry_out(pending_);
    }
    place.type->set_target(place.object, fresh);
    ours_.insert(identity(place.type->target(place.object)));
  }

  [[nodiscard]] bool replaced_any() const noexcept { return !fresh_.empty(); }

  // Where the module first leads back to the root of the original.
  [[nodiscard]] const std::optional<Path>& way_back() const noexcept { return way_back_; }

 private:
  Identity original_root_;
  PendingCopies& pending_;
  std::unordered_map<Identity, std::shared_ptr<void>, IdentityHash> fresh_;  // by the object that the original shares
  std::unordered_set<Identity, IdentityHash> ours_;                          // fresh objects
  std::optional<Path> way_back_;
};

class OwnerCollector final : public WalkHandler {
 public:
  void holder(std::span<const Key>, Node place, Node target) override {
    if (target.object != nullptr && place.type->take_target != nullptr) places_.push_back(place);
  }
  void shared(std::span<const Key>, Node place, Node, Index, bool) override { places_.push_back(place); }

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

}  // namespace

void finish_clone(Node root, Node original, PendingCopies& pending) {
  carry_out(pending);
  SharedReplacer replacer(original, pending);
  walk(root, replacer);
  try {
    WalkHandler checks_only;
    if (replacer.replaced_any()) walk(original, checks_only);
  } catch (const StateError&) {
    dismantle(root);
    throw;
  }
  if (!replacer.way_back()) return;
  dismantle(root);  // nothing else takes down the cycles in what was copied
  throw StateError("[clone] \"" + to_string(*replacer.way_back()) +
                   "\" leads back to the module itself. Clone, split or merge the shared_ptr that owns it.");
}

void dismantle(Node root) {
  OwnerCollector collector;
  walk(root, collector);
  collector.take_all();
}

}  // namespace strata::internal
