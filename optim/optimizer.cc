// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/optimizer.h"

#include <cstdint>
#include <limits>
#include <string>

#include "strata/filters/internal/takes_nothing.h"
#include "strata/optim/internal/whole_step.h"
#include "strata/state/internal/fitting.h"
#include "strata/state/internal/listing.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"

namespace strata::optim {
namespace {

using strata::internal::Leaf;

// What does not fit, for an error.
std::string misfit(const Path& path, const Shape& shape, DType dtype, const Tensor& got) {
  return to_string(path) + " (expected " + std::string(name(dtype)) + to_string(shape) + ", got " + describe(got) + ")";
}

void throw_if_any(const std::vector<std::string>& offenders, const char* what) {
  if (offenders.empty()) return;
  throw StateError("[Optimizer::update] " + std::string(what) + ": " + strata::internal::list_offenders(offenders) +
                   ". Nothing was changed.");
}

// The count is saved as Flax saves it.
void check_step_fits(Index step) {
  if (step < Index{std::numeric_limits<std::uint32_t>::max()}) return;
  throw StateError("[Optimizer::update] " + std::to_string(step) +
                   " steps are done, and `step` counts no further: it has 32 bits. Nothing was changed. Go on with a "
                   "new optimizer.");
}

// Holds values taken out of variables, and puts them back however the step ends: while they are out, nobody else holds
// them, and they are updated in place.
struct TakenValues {
  explicit TakenValues(const std::vector<Variable*>& from) : variables(from) {
    values.reserve(variables.size());
    for (const Variable* variable : variables) values.push_back(variable->value());  // may throw, what follows does not
    for (Variable* variable : variables) variable->reset(Tensor());
  }
  TakenValues(const TakenValues&) = delete;
  TakenValues& operator=(const TakenValues&) = delete;
  ~TakenValues() {
    for (std::size_t i = 0; i < variables.size(); ++i) variables[i]->reset(std::move(values[i]));
  }

  const std::vector<Variable*>& variables;
  std::vector<Tensor> values;
};

}  // namespace

Optimizer::Optimizer(const Leaves& leaves, Transformation transformation, const Filter& wrt)
    : transformation_(std::move(transformation)) {
  std::vector<Tensor> values;
  for (const Leaf& leaf : leaves) {
    if (!wrt(leaf.path, *leaf.variable)) continue;
    const Tensor& value = leaf.variable->value();
    if (!is_floating(value.dtype())) {
      throw DTypeError("[Optimizer] " + to_string(leaf.path) + " (" + describe(*leaf.variable) +
                       ") is not floating and cannot be trained. Leave it out of the filter.");
    }
    values.push_back(value);
    targets_.push_back({leaf.path, value.shape(), value.dtype()});
  }
  if (targets_.empty()) {
    throw FilterError("[Optimizer] " + strata::internal::takes_nothing(strata::internal::state_of(leaves), wrt));
  }
  memory_ = transformation_.rule().init(values);
}

std::vector<Variable*> Optimizer::find_variables(const Leaves& leaves) const {
  std::vector<Variable*> found;
  std::vector<std::string> offenders;
  auto leaf = leaves.begin();
  for (const Target& target : targets_) {
    while (leaf != leaves.end() && leaf->path < target.path) ++leaf;
    if (leaf == leaves.end() || leaf->path != target.path) {
      offenders.push_back(to_string(target.path) + " (missing)");
      continue;
    }
    const Tensor& value = leaf->variable->value();
    if (value.shape() != target.shape || value.dtype() != target.dtype) {
      offenders.push_back(misfit(target.path, target.shape, target.dtype, value));
    } else if (value.is_tracked()) {
      offenders.push_back(to_string(target.path) + " (a loss is being computed from it)");
    }
    found.push_back(leaf->variable);
  }
  throw_if_any(offenders, "the module is not the one that the optimizer was made for");
  return found;
}

std::vector<Tensor> Optimizer::find_gradients(const State& gradients) const {
  std::vector<Tensor> found;
  std::vector<std::string> offenders;
  for (const Target& target : targets_) {
    const Variable* gradient = gradients.find(target.path);
    if (gradient == nullptr) {
      offenders.push_back(to_string(target.path) + " (missing)");
      continue;
    }
    const Tensor& value = gradient->value();
    if (value.shape() != target.shape || value.dtype() != target.dtype) {
      offenders.push_back(misfit(target.path, target.shape, target.dtype, value));
    }
    found.push_back(stop_gradient(value));
  }
  throw_if_any(offenders, "the gradients do not fit the parameters");
  return found;
}

void Optimizer::update_leaves(const Leaves& leaves, const State& gradients) {
  check_step_fits(step_);
  const std::vector<Variable*> variables = find_variables(leaves);
  std::vector<Tensor> updates = find_gradients(gradients);
  TakenValues taken(variables);
  internal::whole_step(transformation_.rule(), taken.values, std::move(updates), memory_);
  ++step_;
}

template <class M, class F>
void Optimizer::for_each_memory(M& memory, const Path& prefix, const std::vector<Target>& targets, F&& f) {
  for (auto& scalar : memory.scalars) f(prefix / scalar.path, kind_of<OptArray>(), scalar.value);
  for (auto& slot : memory.slots) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      f(prefix / slot.path / targets[i].path, kind_of<OptVariable>(), slot.values[i]);
    }
  }
  for (std::size_t i = 0; i < memory.links.size(); ++i) {
    for_each_memory(memory.links[i], prefix / Key(i), targets, f);
  }
}

State Optimizer::state() const {
  std::vector<State::Entry> entries;
  entries.push_back({Path{"step"}, OptState(scalar(static_cast<std::uint32_t>(step_)))});
  for_each_memory(memory_, Path{"opt_state"}, targets_, [&](Path path, const Kind& kind, const Tensor& value) {
    entries.push_back({std::move(path), Variable(kind, value)});
  });
  return State(std::move(entries));
}

void Optimizer::set_state(const State& state) {
  strata::internal::check_same_form(this->state(), state, "Optimizer::set_state");
  for (const auto& [path, variable] : state) {
    if (is_integer(variable.value().dtype()) && variable.value().item<Index>() < 0) {
      throw ValueError("[Optimizer::set_state] " + to_string(path) + " is a count of steps and cannot be negative.");
    }
  }
  Memory memory = memory_;
  for_each_memory(memory, Path{"opt_state"}, targets_,
                  [&](const Path& path, const Kind&, Tensor& value) { value = state.at(path).value(); });
  step_ = state.at({"step"}).value().item<Index>();
  memory_ = std::move(memory);
}

}  // namespace strata::optim
