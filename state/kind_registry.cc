// SPDX-License-Identifier: Apache-2.0
#include "strata/state/kind_registry.h"

#include <deque>
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

  std::vector<std::string> names() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> result;
    for (const auto& [name, kind] : kinds_) result.emplace_back(name);
    return result;
  }

  void add(const Kind& kind) { add(kind.name, kind); }

  const Kind& find_or_add(std::string_view name, const Kind& base) {
    const std::lock_guard lock(mutex_);
    if (const auto place = kinds_.find(name); place != kinds_.end()) return *place->second;
    const std::string& kept = names_.emplace_back(name);
    const Kind& kind = made_.emplace_back(kept, &base);
    kinds_.emplace(kept, &kind);
    return kind;
  }

 private:
  Registry() {
    add_all<Variable, Param, LoRAParam, BatchStat, Cache, Intermediate, Perturbation, RngState, RngKey, RngCount,
            OptState, OptArray, OptVariable>();
    add("params", kind_of<Param>());
    add("batch_stats", kind_of<BatchStat>());
    add("cache", kind_of<Cache>());
    add("intermediates", kind_of<Intermediate>());
    add("perturbations", kind_of<Perturbation>());
  }

  void add(std::string_view name, const Kind& kind) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = kinds_.emplace(name, &kind);
    if (is_new || place->second == &kind) return;
    throw ValueError("[register_kind] there is another kind named " + std::string(name) +
                     ". Kinds that are named in text need different names.");
  }

  template <class... Kinds>
  void add_all() {
    (add(kind_of<Kinds>()), ...);
  }

  std::mutex mutex_;
  std::map<std::string_view, const Kind*> kinds_;
  std::deque<std::string> names_;  // of the kinds that were made here, which stay where they are
  std::deque<Kind> made_;
};

}  // namespace

const Kind* find_kind(std::string_view name) { return Registry::instance().find(name); }

std::vector<std::string> kind_names() { return Registry::instance().names(); }

void register_kind(const Kind& kind) { Registry::instance().add(kind); }

const Kind& find_or_add_kind(std::string_view name, const Kind& base) {
  return Registry::instance().find_or_add(name, base);
}

}  // namespace strata
