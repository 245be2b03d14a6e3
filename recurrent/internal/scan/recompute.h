// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/recurrent/cell.h"
#include "strata/state/internal/clone.h"
#include "strata/state/internal/leaves.h"
#include "strata/state/internal/node_of.h"
#include "strata/tensor/gradient.h"

// Calls of a cell that are computed again in the backward pass, instead of being kept for it.
namespace strata::recurrent::internal {

using strata::internal::Leaf;

// The variables of a module; none if there is no module.
std::vector<Leaf> leaves_of(const std::optional<strata::internal::Node>& module);

// The module that a cell is, if it is one.
template <class C>
std::optional<strata::internal::Node> module_of(C& cell) {
  if constexpr (Module<std::remove_const_t<C>>) {
    return strata::internal::node_of(cell);
  } else {
    return std::nullopt;
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

// The cell to run for a caller: that one, or a copy of a constant one, which other threads may be reading.
template <class C>
decltype(auto) cell_to_run(C& cell) {
  if constexpr (std::is_const_v<C>) {
    return copy_of_cell(cell);
  } else {
    return (cell);
  }
}

// A call of some code with a cell, out of sight of tapes.
class UntrackedCall {
 public:
  UntrackedCall(std::optional<strata::internal::Node> module, const std::vector<Tensor>& inputs);
  ~UntrackedCall();  // gives all variables what they had if the call threw
  UntrackedCall(const UntrackedCall&) = delete;
  UntrackedCall& operator=(const UntrackedCall&) = delete;

  [[nodiscard]] const std::vector<Tensor>& inputs() const { return untracked_inputs_; }

  // Notes on the tape around the call that `outputs`, and the values of variables that it changed, come from inputs and
  // variables. `again` is the same call with other values of inputs, on a cell as it was before, and returns its
  // outputs followed by the values of all variables; it begins with `watch(variables)`, which changes those. Throws
  // StateError if the call has added or removed variables.
  using Watch = std::function<void(const std::vector<Leaf>&)>;
  using Again = std::function<std::vector<Tensor>(std::span<const Tensor> inputs, const Watch& watch)>;
  std::vector<Tensor> finish(std::vector<Tensor> outputs, Again again);

 private:
  // Throws StateError unless the variables are where they were.
  void check_variables(const std::vector<Leaf>& variables) const;

  std::optional<strata::internal::Node> module_;
  std::vector<Path> paths_;     // of the variables before the call, which may move them,
  std::vector<Tensor> values_;  // and what they had
  std::vector<Tensor> inputs_;
  std::vector<Tensor> untracked_inputs_;
  bool finished_ = false;
};

// f(cell, inputs), as one operation on the tape. `f` holds no tracked tensor.
template <class C, class F>
std::vector<Tensor> recomputed(C& cell, const std::vector<Tensor>& inputs, const F& f) {
  using Plain = std::remove_const_t<C>;
  auto&& own = cell_to_run(cell);
  UntrackedCall call(module_of(own), inputs);
  auto before = std::make_shared<const Plain>(copy_of_cell(own));
  std::vector<Tensor> outputs = f(static_cast<C&>(own), std::span<const Tensor>(call.inputs()));
  return call.finish(std::move(outputs), [before, f](std::span<const Tensor> again, const UntrackedCall::Watch& watch) {
    Plain again_cell = copy_of_cell(*before);
    watch(leaves_of(module_of(again_cell)));
    std::vector<Tensor> results = f(static_cast<C&>(again_cell), again);
    for (const Leaf& leaf : leaves_of(module_of(again_cell))) results.push_back(leaf.variable->value());
    return results;
  });
}

}  // namespace strata::recurrent::internal
