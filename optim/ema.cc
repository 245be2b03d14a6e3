// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/ema.h"

#include <string>
#include <utility>
#include <vector>

#include "strata/filters/internal/takes_nothing.h"
#include "strata/filters/split.h"
#include "strata/state/internal/listing.h"
#include "strata/state/internal/state_access.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"

namespace strata::optim {
namespace {

// The values of `state` at the paths of `average`.
std::vector<Tensor> values_for(const State& average, const State& state, const std::string& operation) {
  std::vector<Tensor> values;
  strata::internal::Offenders offenders;
  for (const auto& [path, variable] : average) {
    const Variable* found = state.find(path);
    const Tensor& old = variable.value();
    if (found == nullptr) {
      offenders.add([&, &at = path] { return to_string(at) + " (missing)"; });
    } else if (found->value().shape() != old.shape() || found->value().dtype() != old.dtype()) {
      offenders.add([&, &at = path] {
        return to_string(at) + " (expected " + describe(old) + ", got " + describe(found->value()) + ")";
      });
    } else {
      values.push_back(stop_gradient(found->value()));
    }
  }
  const std::string misfits = offenders.sentence("Of these");
  if (!misfits.empty()) {
    throw StateError("[" + operation + "] the variables do not fit the averages." + misfits + " Nothing was changed.");
  }
  return values;
}

}  // namespace

EMA::EMA(const State& all, double decay, const Filter& only) : decay_(decay), average_(filter(all, only)) {
  if (!(decay >= 0 && decay <= 1)) {
    throw ValueError("[EMA] decay is " + std::to_string(decay) + "; it takes a number from 0 to 1.");
  }
  if (average_.empty()) throw FilterError("[EMA] " + strata::internal::takes_nothing(all, only));
  for (auto& [path, variable] : strata::internal::StateAccess::entries_of(average_)) {
    if (!is_floating(variable.value().dtype())) {
      throw DTypeError("[EMA] " + to_string(path) + " (" + describe(variable) +
                       ") is not floating and has no average. Leave it out of the filter.");
    }
    variable.reset(stop_gradient(variable.value()));
  }
}

void EMA::add(const State& all) {
  const std::vector<Tensor> values = values_for(average_, all, "EMA::update");
  auto value = values.begin();
  for (auto& [path, variable] : strata::internal::StateAccess::entries_of(average_)) {
    variable.reset(variable.value() * decay_ + *value++ * (1 - decay_));
  }
}

void EMA::set_state(const State& state) {
  if (state.size() != average_.size()) {
    throw StateError("[EMA::set_state] there are " + std::to_string(state.size()) + " variables and " +
                     std::to_string(average_.size()) + " averages. Nothing was changed.");
  }
  const std::vector<Tensor> values = values_for(average_, state, "EMA::set_state");
  auto value = values.begin();
  for (auto& [path, variable] : strata::internal::StateAccess::entries_of(average_)) variable.reset(*value++);
}

}  // namespace strata::optim
