// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/scan/recompute.h"

#include <algorithm>

#include "strata/nn/internal/observers.h"
#include "strata/tensor/error.h"

namespace strata::recurrent::internal {
namespace {

// What of a call its backward pass needs.
struct RecordedCall {
  UntrackedCall::Again again;
  std::vector<Tensor> inputs;
  std::vector<bool> is_source;       // inputs, then variables, that gradients go to
  std::vector<std::size_t> outputs;  // of the results of the call made again, those that the operation has
  std::size_t num_results = 0;

  // Gradients with respect to inputs and variables.
  [[nodiscard]] std::vector<Cotangent> backward(std::span<const Cotangent> given) const {
    GradientTape tape;
    std::vector<Tensor> sources;
    std::size_t next = 0;
    const auto watched = [&](const Tensor& value) {
      if (!is_source[next++]) return value;
      sources.push_back(tape.watch(value));
      return sources.back();
    };
    std::vector<Tensor> watched_inputs;
    for (const Tensor& input : inputs) watched_inputs.push_back(watched(input));
    // What a cell hands out was handed out by the first call.
    const nn::internal::ObserverScope unobserved(nn::internal::Observers{});
    const std::vector<Tensor> results = again(watched_inputs, [&](const std::vector<Leaf>& variables) {
      for (const auto& [path, variable] : variables) variable->reset(watched(variable->value()));
    });

    if (results.size() != num_results) {
      throw StateError(
          "[scan] the cell has other variables when its steps are computed again. Let it depend on nothing "
          "but its fields, its carry and x, or leave out `checkpoint_every`.");
    }
    std::vector<Tensor> ends;
    std::vector<Tensor> cotangents;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!given[i] || !results[outputs[i]].is_tracked()) continue;
      ends.push_back(results[outputs[i]]);
      cotangents.push_back(*given[i]);
    }
    std::vector<Tensor> gradients = tape.gradient(ends, cotangents, sources);
    std::vector<Cotangent> result;
    auto gradient = gradients.begin();
    for (const bool wanted : is_source) result.push_back(wanted ? Cotangent(std::move(*gradient++)) : Cotangent());
    return result;
  }
};

}  // namespace

std::vector<Leaf> leaves_of(const std::optional<strata::internal::Node>& module) {
  return module ? strata::internal::collect_leaves(*module) : std::vector<Leaf>();
}

UntrackedCall::UntrackedCall(std::optional<strata::internal::Node> module, const std::vector<Tensor>& inputs)
    : module_(module), inputs_(inputs) {
  for (const Tensor& input : inputs) untracked_inputs_.push_back(stop_gradient(input));
  const std::vector<Leaf> variables = leaves_of(module_);
  for (const auto& [path, variable] : variables) {
    paths_.push_back(path);
    values_.push_back(variable->value());
  }
  for (const auto& [path, variable] : variables) variable->reset(stop_gradient(variable->value()));
}

UntrackedCall::~UntrackedCall() {
  if (finished_) return;
  try {
    for (const auto& [path, variable] : leaves_of(module_)) {
      const auto before = std::find(paths_.begin(), paths_.end(), path);
      if (before != paths_.end()) variable->reset(values_[static_cast<std::size_t>(before - paths_.begin())]);
    }
  } catch (...) {  // The exception on its way says more.
  }
}

void UntrackedCall::check_variables(const std::vector<Leaf>& variables) const {
  const auto same = [](const Path& before, const Leaf& now) { return before == now.path; };
  const auto [before, now] = std::mismatch(paths_.begin(), paths_.end(), variables.begin(), variables.end(), same);
  if (before == paths_.end() && now == variables.end()) return;
  throw StateError("[scan] a step has added or removed variables of the cell, at or before `" +
                   to_string(now == variables.end() ? *before : now->path) +
                   "`, and cannot be computed again. Make all variables when the cell is made, or leave out "
                   "`checkpoint_every`.");
}

std::vector<Tensor> UntrackedCall::finish(std::vector<Tensor> outputs, Again again) {
  const std::vector<Leaf> variables = leaves_of(module_);
  check_variables(variables);
  RecordedCall recorded{.again = std::move(again), .inputs = untracked_inputs_, .is_source = {}, .outputs = {}};
  std::vector<Tensor> inputs = inputs_;
  inputs.insert(inputs.end(), values_.begin(), values_.end());
  for (const Tensor& input : inputs) recorded.is_source.push_back(input.is_tracked());

  const std::size_t count = outputs.size();
  std::vector<Variable*> changed;
  for (std::size_t i = 0; i < count; ++i) recorded.outputs.push_back(i);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Tensor& value = variables[i].variable->value();
    if (value.shares_elements_with(values_[i])) {
      variables[i].variable->reset(values_[i]);
      continue;
    }
    if (!is_floating(value.dtype())) continue;
    changed.push_back(variables[i].variable);
    outputs.push_back(value);
    recorded.outputs.push_back(count + i);
  }
  recorded.num_results = count + variables.size();
  outputs = differentiable(
      std::move(outputs), inputs,
      [recorded = std::move(recorded)](std::span<const Cotangent> given) { return recorded.backward(given); });
  for (std::size_t i = 0; i < changed.size(); ++i) changed[i]->reset(outputs[count + i]);
  finished_ = true;
  outputs.resize(count);
  return outputs;
}

}  // namespace strata::recurrent::internal
