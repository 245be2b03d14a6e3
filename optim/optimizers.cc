// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/optimizers.h"

#include <cmath>

#include "strata/optim/internal/checks.h"
#include "strata/optim/internal/per_element.h"

namespace strata::optim {
namespace {

using internal::FormulaRule;
using internal::MemoryLayout;
using internal::StepFacts;

template <class Formula>
Transformation make(Formula formula, Schedule learning_rate, MemoryLayout layout) {
  return Transformation(std::make_shared<FormulaRule<Formula>>(formula, std::move(learning_rate), std::move(layout)));
}

struct Momentum {
  double decay;
  bool nesterov;

  template <class T>
  T operator()(T g, T& trace) const {
    const T m = static_cast<T>(decay);
    trace = g + m * trace;
    return nesterov ? g + m * trace : trace;
  }
};

struct PlainSGD {
  template <class T>
  auto prepare(const StepFacts& facts) const {
    return [lr = static_cast<T>(facts.learning_rate)](T g, T, T&, T&, T&) { return -lr * g; };
  }
};

struct MomentumSGD {
  Momentum momentum;

  template <class T>
  auto prepare(const StepFacts& facts) const {
    return [lr = static_cast<T>(facts.learning_rate), m = momentum](T g, T, T& trace, T&, T&) {
      return -lr * m(g, trace);
    };
  }
};

struct RMSProp {
  RMSPropOptions options;

  template <class T>
  auto prepare(const StepFacts& facts) const {
    const T correction = static_cast<T>(options.bias_correction ? 1 - std::pow(options.decay, facts.number) : 1.0);
    return [o = options, correction, lr = static_cast<T>(facts.learning_rate)](T g, T, T& nu, T& a, T& b) {
      const T decay = static_cast<T>(o.decay);
      const T rest = static_cast<T>(1 - o.decay);
      const T eps = static_cast<T>(o.eps);
      T& mu = a;
      T& trace = o.centered ? b : a;
      nu = decay * nu + rest * g * g;
      T variance = nu / correction;
      if (o.centered) {
        mu = decay * mu + rest * g;
        const T mean = mu / correction;
        variance -= mean * mean;
      }
      const T scaled = o.eps_in_sqrt ? g / std::sqrt(variance + eps) : g / (std::sqrt(variance) + eps);
      if (!o.momentum) return -lr * scaled;
      return Momentum{*o.momentum, o.nesterov}(-lr * scaled, trace);
    };
  }
};

struct Adagrad {
  AdagradOptions options;

  template <class T>
  auto prepare(const StepFacts& facts) const {
    return [lr = static_cast<T>(facts.learning_rate), eps = static_cast<T>(options.eps)](T g, T, T& squares, T&, T&) {
      squares += g * g;
      return squares > 0 ? -lr * g / std::sqrt(squares + eps) : T{0};
    };
  }
};

struct Lion {
  LionOptions options;

  template <class T>
  auto prepare(const StepFacts& facts) const {
    return [o = options, lr = static_cast<T>(facts.learning_rate)](T g, T p, T& mu, T&, T&) {
      const T mixed = static_cast<T>(o.b1) * mu + static_cast<T>(1 - o.b1) * g;
      mu = static_cast<T>(o.b2) * mu + static_cast<T>(1 - o.b2) * g;
      const T sign = static_cast<T>((mixed > 0) - (mixed < 0));
      return -lr * (sign + static_cast<T>(o.weight_decay) * p);
    };
  }
};

}  // namespace

Transformation sgd(Schedule learning_rate, SGDOptions options) {
  internal::check_learning_rate("sgd", learning_rate);
  if (options.momentum) internal::check_share("sgd", "momentum", *options.momentum);
  internal::check_nesterov("sgd", options.nesterov, options.momentum.has_value());
  if (!options.momentum) return make(PlainSGD{}, std::move(learning_rate), {.schedule_count = {1, "count"}});
  return make(MomentumSGD{{*options.momentum, options.nesterov}}, std::move(learning_rate),
              {.schedule_count = {1, "count"}, .slots = {{.path = {0, "trace"}}}});
}

Transformation rmsprop(Schedule learning_rate, RMSPropOptions options) {
  internal::check_learning_rate("rmsprop", learning_rate);
  internal::check_share("rmsprop", "decay", options.decay);
  if (options.bias_correction) internal::check_decay("rmsprop", "decay", options.decay);
  internal::check_positive("rmsprop", "eps", options.eps);
  internal::check_not_negative("rmsprop", "initial_scale", options.initial_scale);
  if (options.momentum) internal::check_share("rmsprop", "momentum", *options.momentum);
  internal::check_nesterov("rmsprop", options.nesterov, options.momentum.has_value());
  MemoryLayout layout{.schedule_count = {1, "count"}};
  if (options.bias_correction) layout.count = Path{0, "count"};
  layout.slots.push_back({.path = {0, "nu"}, .initial = options.initial_scale});
  if (options.centered) layout.slots.push_back({.path = {0, "mu"}});
  if (options.momentum) layout.slots.push_back({.path = {2, "trace"}});
  return make(RMSProp{options}, std::move(learning_rate), std::move(layout));
}

Transformation adagrad(Schedule learning_rate, AdagradOptions options) {
  internal::check_learning_rate("adagrad", learning_rate);
  internal::check_not_negative("adagrad", "initial_accumulator_value", options.initial_accumulator_value);
  internal::check_not_negative("adagrad", "eps", options.eps);
  return make(Adagrad{options}, std::move(learning_rate),
              {.schedule_count = {1, "count"},
               .slots = {{.path = {0, "sum_of_squares"}, .initial = options.initial_accumulator_value}}});
}

Transformation lion(Schedule learning_rate, LionOptions options) {
  internal::check_learning_rate("lion", learning_rate);
  internal::check_share("lion", "b1", options.b1);
  internal::check_share("lion", "b2", options.b2);
  internal::check_not_negative("lion", "weight_decay", options.weight_decay);
  return make(Lion{options}, std::move(learning_rate),
              {.count = Path{0, "count"}, .schedule_count = {2, "count"}, .slots = {{.path = {0, "mu"}}}});
}

}  // namespace strata::optim
