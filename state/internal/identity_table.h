// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "strata/state/internal/node.h"

namespace strata::internal {

// Numbers objects in the order in which they are first seen. A hash table with open addressing: a module of many shared
// parts asks it for each of them, and std::unordered_map takes longer than the rest of the walk.
class IdentityTable {
 public:
  struct Entry {
    Index number;
    bool first;  // seen for the first time
  };

  // The number of the object, a new one if it was not seen before.
  Entry add(const Identity& id) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = find(id);
    if (slot.id.first != nullptr) return {slot.number, false};
    slot = {id, static_cast<Index>(size_++)};
    return {slot.number, true};
  }

  [[nodiscard]] bool contains(const Identity& id) const noexcept {
    return size_ != 0 && const_cast<IdentityTable*>(this)->find(id).id.first != nullptr;
  }

 private:
  struct Slot {
    Identity id{};
    Index number = 0;
  };

  Slot& find(const Identity& id) noexcept {
    std::size_t place = IdentityHash{}(id) & (slots_.size() - 1);
    while (slots_[place].id.first != nullptr && slots_[place].id != id) place = (place + 1) & (slots_.size() - 1);
    return slots_[place];
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id.first != nullptr) find(slot.id) = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half of them taken
  std::size_t size_ = 0;
};

}  // namespace strata::internal
