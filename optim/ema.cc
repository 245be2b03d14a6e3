// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/ema.h"

#include <span>
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

// The values of `state` at the paths of `average`, which are to have these element types.
std::vector<Tensor> values_for(const State& average, std::span<const DType> dtypes, const State& state,
                               const std::string& operation) {
  std::vector<Tensor> values;
  strata::internal::Offenders offenders;
  auto dtype_of_next = dtypes.begin();
  for (const auto& [path, variable] : average) {
    const Variable* found = state.find(path);
    const Tensor& old = variable.value();
    const DType dtype = *dtype_of_next++;
    if (found == nullptr) {
      offenders.add([&, &at = path] { return to_string(at) + " (missing)"; });
    } else if (found->value().shape() != old.shape() || found->value().dtype() != dtype) {
      offenders.add([&, &at = path] {
        const std::string expected = describe(old.astype(dtype));
        return to_string(at) + " (expected " + expected + ", got " + describe(found->value()) + ")";
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
    dtypes_.push_back(variable.value().dtype());
    variable.reset(stop_gradient(variable.value()).astype(computing_dtype(dtypes_.back())));
  }
}

void EMA::add(const State& all) {
  const std::vector<Tensor> values = values_for(average_, dtypes_, all, "EMA::update");
  auto value = values.begin();
  for (auto& [path, variable] : strata::internal::StateAccess::entries_of(average_)) {
    const Tensor& old = variable.value();
    variable.reset(old * decay_ + (value++)->astype(old.dtype()) * (1 - decay_));
  }
}

State EMA::in_types_of_variables() const {
  State state = average_;
  auto dtype = dtypes_.begin();
  for (auto& [path, variable] : strata::internal::StateAccess::entries_of(state)) {
    variable.reset(variable.value().astype(*dtype++));
  }
  return state;
}

void EMA::set_state(const State& state) {
  if (state.size() != average_.size()) {
    throw StateError("[EMA::set_state] there are " + std::to_string(state.size()) + " variables and " +
                     std::to_string(average_.size()) + " averages. Nothing was changed.");
  }
  std::vector<DType> kept;
  for (const auto& [path, variable] : average_) kept.push_back(variable.value().dtype());
  const std::vector<Tensor> values = values_for(average_, kept, state, "EMA::set_state");
  auto value = values.begin();
  for (auto& [path, variable] : strata::internal::StateAccess::entries_of(average_)) variable.reset(*value++);
}

}  // namespace strata::optim
