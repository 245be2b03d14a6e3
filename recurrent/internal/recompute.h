// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strata/recurrent/cell.h"
#include "strata/state/internal/clone.h"
#include "strata/state/internal/node_of.h"
#include "strata/state/variable.h"
#include "strata/tensor/gradient.h"

// Calls of a cell that are computed again in the backward pass, instead of being kept for it.
namespace strata::recurrent::internal {

// The variables below a module, each once.
std::vector<Variable*> variables_of(strata::internal::Node module);

template <class C>
std::vector<Variable*> variables_in(C& cell) {
  if constexpr (Module<C>) {
    return variables_of(strata::internal::node_of(cell));
  } else {
    return {};
  }
}

// A cell of its own in the same state, random streams included.
template <class C>
C copy_of_cell(const C& cell) {
  if constexpr (Module<C>) {
    return strata::internal::clone(cell);
  } else {
    return cell;
  }
}

// A call of some code with a cell, out of sight of tapes.
class UntrackedCall {
 public:
  UntrackedCall(std::vector<Variable*> variables, const std::vector<Tensor>& inputs);
  ~UntrackedCall();  // gives variables that were not changed, or all if the call threw, what they had
  UntrackedCall(const UntrackedCall&) = delete;
  UntrackedCall& operator=(const UntrackedCall&) = delete;

  [[nodiscard]] const std::vector<Tensor>& inputs() const { return untracked_inputs_; }

  // Notes on the tape around the call that `outputs`, and the values of variables that it changed, come from inputs and
  // variables. `again` is the same call with other values of inputs, on a cell as it was before, and returns its outputs
  // followed by the values of all variables; it begins with `watch(variables)`, which changes those.
  using Watch = std::function<void(const std::vector<Variable*>&)>;
  using Again = std::function<std::vector<Tensor>(std::span<const Tensor> inputs, const Watch& watch)>;
  std::vector<Tensor> finish(std::vector<Tensor> outputs, Again again);

 private:
  std::vector<Variable*> variables_;
  std::vector<Tensor> values_;  // of the variables before
  std::vector<Tensor> inputs_;
  std::vector<Tensor> untracked_inputs_;
  bool finished_ = false;
};

// f(cell, inputs), as one operation on the tape. `f` holds no tracked tensor.
template <class C, class F>
std::vector<Tensor> recomputed(C& cell, const std::vector<Tensor>& inputs, const F& f) {
  UntrackedCall call(variables_in(cell), inputs);
  auto before = std::make_shared<C>(copy_of_cell(cell));
  std::vector<Tensor> outputs = f(cell, std::span<const Tensor>(call.inputs()));
  return call.finish(std::move(outputs), [before, f](std::span<const Tensor> again, const UntrackedCall::Watch& watch) {
    C again_cell = copy_of_cell(*before);
    const std::vector<Variable*> variables = variables_in(again_cell);
    watch(variables);
    std::vector<Tensor> results = f(again_cell, again);
    for (const Variable* variable : variables) results.push_back(variable->value());
    return results;
  });
}

}  // namespace strata::recurrent::internal
