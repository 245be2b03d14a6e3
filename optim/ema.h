// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "strata/filters/filter.h"
#include "strata/nn/split.h"
#include "strata/state/state.h"

namespace strata::optim {

// The exponential moving average of the variables of a module that a filter takes:
//
//   average = decay average + (1 - decay) value
//
//   optim::EMA ema(model, 0.999, of_type<Param>);   // starts as a copy
//   optimizer.update(model, grads);
//   ema.update(model);
//   Model smooth = ema.apply_to(model);             // a module with the averages, and all else of `model`
//
// Averages of two-byte floats are kept in float32, where small steps are not lost.
//
// Source: nnx.EMA of Flax 0.12.
class EMA {
 public:
  // Throws FilterError if the filter takes no variable, DTypeError if it takes one that is not floating, ValueError if
  // decay is not in [0, 1].
  template <class M>
  EMA(const M& module, double decay, const Filter& only) : EMA(nn::state(module), decay, only) {}

  // Throws StateError that lists what the module lacks or what differs in shape or element type; nothing is changed
  // then.
  template <class M>
  void update(const M& module) {
    add(nn::state(module));
  }

  // A clone of the module with the averages. Throws StateError if they do not fit.
  template <class M>
  [[nodiscard]] M apply_to(const M& module) const {
    M result = nn::clone(module);
    nn::update(result, in_types_of_variables());
    return result;
  }

  // The averages, under the paths of the variables, in the types they are kept in. A State of the same paths, shapes
  // and types takes their place in set_state, which throws StateError otherwise, before anything is changed.
  [[nodiscard]] const State& state() const noexcept { return average_; }
  void set_state(const State& state);

 private:
  EMA(const State& all, double decay, const Filter& only);
  void add(const State& all);

  [[nodiscard]] State in_types_of_variables() const;

  double decay_;
  State average_;
  std::vector<DType> dtypes_;  // of the variables
};

}  // namespace strata::optim
