// SPDX-License-Identifier: Apache-2.0
#include "strata/state/kind_registry.h"

#include <map>
#include <mutex>
#include <string>

#include "strata/state/variable.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

class Registry {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  const Kind* find(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto place = kinds_.find(name);
    return place == kinds_.end() ? nullptr : place->second;
  }

  void add(const Kind& kind) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = kinds_.emplace(kind.name, &kind);
    if (is_new || place->second == &kind) return;
    throw ValueError("[register_kind] there is another kind named " + std::string(kind.name) +
                     ". Kinds that are named in text need different names.");
  }

 private:
  Registry() {
    add_all<Variable, Param, LoRAParam, BatchStat, Cache, Intermediate, Perturbation, RngState, RngKey, RngCount,
            OptState, OptArray, OptVariable>();
  }

  template <class... Kinds>
  void add_all() {
    (add(kind_of<Kinds>()), ...);
  }

  std::mutex mutex_;
  std::map<std::string_view, const Kind*> kinds_;
};

}  // namespace

const Kind* find_kind(std::string_view name) { return Registry::instance().find(name); }

void register_kind(const Kind& kind) { Registry::instance().add(kind); }

}  // namespace strata
