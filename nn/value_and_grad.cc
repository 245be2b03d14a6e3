// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/value_and_grad.h"

#include <exception>

#include "strata/filters/internal/takes_nothing.h"
#include "strata/tensor/error.h"

namespace strata::nn::internal {
namespace {

using strata::internal::collect_leaves;
using strata::internal::Leaf;

}  // namespace

WatchedModule::WatchedModule(strata::internal::Node root, const Filter& wrt, const GradOptions& options) : root_(root) {
  const std::vector<Leaf> leaves = collect_leaves(root_);
  before_ = strata::internal::state_of(leaves);
  watched_ = strata::filter(before_, wrt);
  const bool only_perturbations = options.perturbations && wrt == Filter(nothing);
  if (watched_.empty() && !only_perturbations)
    throw FilterError("[value_and_grad] " + strata::internal::takes_nothing(before_, wrt));
  for (const auto& [path, variable] : watched_) {
    if (!is_floating(variable.value().dtype())) {
      throw DTypeError("[value_and_grad] " + to_string(path) + " (" + describe(variable) +
                       ") is not floating and has no gradient. Leave it out of the filter.");
    }
    if (variable.value().is_tracked()) {
      throw GradientError("[value_and_grad] " + to_string(path) +
                          " is being differentiated already. Derivatives of derivatives are not supported.");
    }
  }
  for (const Leaf& leaf : leaves) {
    if (Variable* variable = watched_.find(leaf.path)) {
      variable->reset(tape_.watch(variable->value()));
      leaf.variable->reset(variable->value());
    }
  }
  if (options.perturbations) perturbations_.emplace(root_, *options.perturbations, tape_);
}

Observers WatchedModule::observers() noexcept {
  // Perturbations of a loss around this one are no business of what runs here: their tape is another.
  return {internal::observers().collector, perturbations_ ? &*perturbations_ : nullptr};
}

WatchedModule::~WatchedModule() {
  try {
    restore();
  } catch (const std::exception&) {
    // The loss left a module that cannot be walked through, or there is no memory to do so; its variables stay as they
    // are, no longer tracked when the tape goes.
  }
}

void WatchedModule::restore() {
  // The loss may have changed the structure of the module, so that its variables are looked up anew.
  for (const Leaf& leaf : collect_leaves(root_)) {
    const Variable* old = finished_ ? nullptr : before_.find(leaf.path);
    if (old != nullptr) {
      leaf.variable->reset(old->value());
    } else if (!leaf.variable->value().is_tracked()) {  // else by a tape around this one, which still records
      leaf.variable->reset(stop_gradient(leaf.variable->value()));
    }
  }
}

State WatchedModule::gradients(const Tensor& loss) {
  std::vector<Tensor> sources;
  for (const auto& [path, variable] : watched_) sources.push_back(variable.value());
  if (perturbations_) {
    perturbations_->check_taken();
    for (const auto& [path, zeros] : perturbations_->entries()) sources.push_back(zeros);
  }
  const std::vector<Tensor> values = tape_.gradient(loss, sources);
  auto value = values.begin();
  std::vector<State::Entry> entries;
  for (const auto& [path, variable] : watched_) {
    entries.push_back({path, Variable(variable.kind(), *value++, variable.metadata())});
  }
  if (perturbations_) {
    for (const auto& [path, zeros] : perturbations_->entries()) entries.push_back({path, Perturbation(*value++)});
  }
  finished_ = true;
  return State(std::move(entries));
}

}  // namespace strata::nn::internal
