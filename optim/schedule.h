// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <utility>
#include <vector>

#include "strata/tensor/shape.h"

namespace strata::optim {

// A number that may change from step to step, such as a learning rate: a constant, or a function of the number of the
// step, counted from 0.
class Schedule {
 public:
  Schedule(double constant) : constant_(constant) {}

  // Throws ValueError if the function is empty: a null pointer or std::function without a target.
  template <class F>
  requires(!std::is_arithmetic_v<F> && std::is_invocable_r_v<double, F, Index>) Schedule(F function)
      : function_(std::move(function)) {
    check_function();
  }

  [[nodiscard]] double operator()(Index step) const { return function_ ? function_(step) : constant_; }
  [[nodiscard]] bool is_constant() const noexcept { return !function_; }

 private:
  void check_function() const;

  double constant_ = 0;
  std::function<double(Index)> function_;
};

// Schedules of optax, under its names and formulas. Throw ValueError, naming the argument, if a number of steps is not
// positive or another number not finite.

// From `start` to `end` in equal steps, then constant.
[[nodiscard]] Schedule linear_schedule(double start, double end, Index steps);

struct ExponentialDecay {
  bool staircase = false;  // falls only every `steps` steps
  double end_value = 0;    // never below (for rates that grow: above) this one; 0 for no bound
};

// start * rate^(step / steps). Throws ValueError unless rate is positive.
[[nodiscard]] Schedule exponential_decay(double start, Index steps, double rate, ExponentialDecay options = {});

// start * ((1 - alpha) (1 + cos(pi step / steps)) / 2 + alpha), then constant. Loshchilov and Hutter, "SGDR" (2017).
[[nodiscard]] Schedule cosine_decay(double start, Index steps, double alpha = 0);

// From `start` to `peak` in equal steps over `warmup_steps`, then a cosine to `end` at step `steps`, the warm-up
// included. Throws ValueError unless 0 < warmup_steps < steps.
[[nodiscard]] Schedule warmup_cosine_decay(double start, double peak, Index warmup_steps, Index steps, double end = 0);

// `start` times all factors whose step has come; each pair is (step, factor). Throws ValueError if one is negative.
[[nodiscard]] Schedule piecewise_constant(double start, std::vector<std::pair<Index, double>> factors);

}  // namespace strata::optim
