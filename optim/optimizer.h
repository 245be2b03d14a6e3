// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "strata/filters/filter.h"
#include "strata/optim/optimizers.h"
#include "strata/optim/transformation.h"
#include "strata/state/internal/leaves.h"
#include "strata/state/internal/node_of.h"
#include "strata/state/state.h"

namespace strata::optim {

// Updates the variables of a module that a filter takes, and no others.
//
//   optim::Optimizer optimizer(model, optim::adamw(1e-3), of_type<Param>);
//   auto [loss, grads] = step(model, batch);
//   optimizer.update(model, grads);
//
// What it remembers is a State, under the paths of flax.nnx.Optimizer: `step`, `opt_state/0/count`,
// `opt_state/0/mu/<path>`; a chain adds one number for each link.
class Optimizer {
 public:
  // Throws FilterError if the filter takes no variable, DTypeError if it takes one that is not floating.
  template <class M>
  Optimizer(const M& module, Transformation transformation, const Filter& wrt)
      : Optimizer(strata::internal::collect_leaves(strata::internal::node_of(module)), std::move(transformation), wrt) {
  }

  // One step: gradients become updates, which are added to the module's variables. `gradients` may hold more variables
  // than the filter takes. Throws StateError that lists what is missing or differs in shape or element type, in the
  // gradients or in the module, and after 2^32 - 1 steps; ValueError if a learning rate is not finite; and what a
  // schedule or rule of your own throws: then nothing is changed.
  template <class M>
  void update(M& module, const State& gradients) {
    update_leaves(strata::internal::collect_leaves(strata::internal::node_of(module)), gradients);
  }

  // Number of steps done.
  [[nodiscard]] Index step() const noexcept { return step_; }

  // All that the optimizer remembers. A State of the same paths, shapes and types takes its place in set_state, which
  // throws StateError otherwise, before anything is changed.
  [[nodiscard]] State state() const;
  void set_state(const State& state);

 private:
  using Leaves = std::vector<strata::internal::Leaf>;

  // A variable that the filter took.
  struct Target {
    Path path;
    Shape shape;
    DType dtype;
  };

  Optimizer(const Leaves& leaves, Transformation transformation, const Filter& wrt);
  [[nodiscard]] std::vector<Variable*> find_variables(const Leaves& leaves) const;
  [[nodiscard]] std::vector<Tensor> find_gradients(const State& gradients) const;
  void update_leaves(const Leaves& leaves, const State& gradients);

  // Calls f(path, kind, tensor) for everything in the memory, a Memory or a const one.
  template <class M, class F>
  static void for_each_memory(M& memory, const Path& prefix, const std::vector<Target>& targets, F&& f);

  Transformation transformation_;
  std::vector<Target> targets_;
  Memory memory_;
  Index step_ = 0;
};

}  // namespace strata::optim
