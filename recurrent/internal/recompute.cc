// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/recompute.h"

#include <algorithm>

#include "strata/state/internal/walk.h"

namespace strata::recurrent::internal {
namespace {

class VariableCollector final : public strata::internal::WalkHandler {
 public:
  void variable(const strata::internal::Trail&, Variable& variable, strata::internal::Node) override {
    variables.push_back(&variable);
  }

  std::vector<Variable*> variables;
};

// What of a call its backward pass needs.
struct RecordedCall {
  UntrackedCall::Again again;
  std::vector<Tensor> inputs;
  std::vector<bool> is_source;       // inputs, then variables, that gradients go to
  std::vector<std::size_t> outputs;  // of the call made again, those that the operation has

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
    const std::vector<Tensor> results = again(watched_inputs, [&](const std::vector<Variable*>& variables) {
      for (Variable* variable : variables) variable->reset(watched(variable->value()));
    });

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

std::vector<Variable*> variables_of(strata::internal::Node module) {
  VariableCollector collector;
  strata::internal::walk(module, collector);
  return std::move(collector.variables);
}

UntrackedCall::UntrackedCall(std::vector<Variable*> variables, const std::vector<Tensor>& inputs)
    : variables_(std::move(variables)), inputs_(inputs) {
  for (const Tensor& input : inputs) untracked_inputs_.push_back(stop_gradient(input));
  for (const Variable* variable : variables_) values_.push_back(variable->value());
  for (Variable* variable : variables_) variable->reset(stop_gradient(variable->value()));
}

UntrackedCall::~UntrackedCall() {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (!finished_ || variables_[i]->value().shares_elements_with(values_[i]))
      variables_[i]->reset(std::move(values_[i]));
  }
}

std::vector<Tensor> UntrackedCall::finish(std::vector<Tensor> outputs, Again again) {
  RecordedCall recorded{.again = std::move(again), .inputs = untracked_inputs_, .is_source = {}, .outputs = {}};
  std::vector<Tensor> inputs = inputs_;
  inputs.insert(inputs.end(), values_.begin(), values_.end());
  for (const Tensor& input : inputs) recorded.is_source.push_back(input.is_tracked());

  const std::size_t count = outputs.size();
  std::vector<Variable*> changed;
  for (std::size_t i = 0; i < count; ++i) recorded.outputs.push_back(i);
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const Tensor& value = variables_[i]->value();
    if (value.shares_elements_with(values_[i]) || !is_floating(value.dtype())) continue;
    changed.push_back(variables_[i]);
    outputs.push_back(value);
    recorded.outputs.push_back(count + i);
  }
  outputs = differentiable(
      std::move(outputs), inputs,
      [recorded = std::move(recorded)](std::span<const Cotangent> given) { return recorded.backward(given); });
  for (std::size_t i = 0; i < changed.size(); ++i) changed[i]->reset(outputs[count + i]);
  finished_ = true;
  outputs.resize(count);
  return outputs;
}

}  // namespace strata::recurrent::internal
