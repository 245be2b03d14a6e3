// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/filters/filter.h"
#include "strata/nn/internal/observers.h"
#include "strata/nn/internal/perturbations.h"
#include "strata/nn/split.h"
#include "strata/state/state.h"
#include "strata/tensor/gradient.h"

namespace strata::nn {

struct GradOptions {
  // Also gives the gradients with respect to the intermediate values that layers name by nn::perturb, of those that
  // this filter takes: entries of kind Perturbation. Without a filter, nn::perturb costs nothing.
  std::optional<Filter> perturbations = {};
};

namespace internal {

// One computation of a loss of a module, watched. While it exists the chosen variables are tracked; when it goes, no
// variable is. If `gradients` was not reached (the loss threw), the module gets back the values that it had.
class WatchedModule {
 public:
  // Throws FilterError if the filter takes no variable, DTypeError if it takes one that is not floating.
  WatchedModule(strata::internal::Node root, const Filter& wrt, const GradOptions& options);
  WatchedModule(const WatchedModule&) = delete;
  WatchedModule& operator=(const WatchedModule&) = delete;
  ~WatchedModule();

  // Who observes while the loss is computed.
  [[nodiscard]] Observers observers() noexcept;

  [[nodiscard]] State gradients(const Tensor& loss);

 private:
  void restore();

  strata::internal::Node root_;
  State before_;
  State watched_;
  GradientTape tape_;
  std::optional<Perturbations> perturbations_;
  bool finished_ = false;
};

}  // namespace internal

// What a loss came to, and its gradients: a state with exactly the paths and kinds of the variables that were asked
// for.
template <class Value>
struct ValueAndGrad {
  Value value;
  State grads;
};

// Turns a loss `f(module, args...)`, which returns a scalar, into a function that also returns its gradients with
// respect to the variables that the filter takes:
//
//   auto step = nn::value_and_grad([](Net& m, const Batch& b) { return loss_of(m(b.x), b.y); }, of_type<Param>);
//   auto [loss, grads] = step(model, batch);
//
// f may also return a pair of the scalar and anything else; `value` then is that pair. What f does to the module
// (running statistics, counts of random draws) stays; if it throws, the module's variables get back their values. A
// variable that the loss does not depend on has zeros for a gradient; a shared one has the sum over its uses, under its
// one path. Throws FilterError if the filter takes no variable, or the one of the options no perturbation, DTypeError
// if one takes what is not floating, ShapeError if the loss is not a scalar.
//
//   nn::value_and_grad(loss, nothing, {.perturbations = everything});  // gradients of intermediate values alone
template <class F>
[[nodiscard]] auto value_and_grad(F f, Filter wrt, GradOptions options = {}) {
  return [ f = std::move(f), wrt = std::move(wrt), options = std::move(options) ]<class M, class... Args>(
      M & module, Args && ... args) requires(!std::is_const_v<M>) {
    internal::WatchedModule watched(strata::internal::node_of(module), wrt, options);
    auto value = [&] {
      const internal::ObserverScope scope(watched.observers());
      return std::invoke(f, module, std::forward<Args>(args)...);
    }();
    using Value = decltype(value);
    if constexpr (std::is_same_v<Value, Tensor>) {
      State grads = watched.gradients(value);
      return ValueAndGrad<Tensor>{stop_gradient(value), std::move(grads)};
    } else {
      State grads = watched.gradients(value.first);
      value.first = stop_gradient(value.first);
      return ValueAndGrad<Value>{std::move(value), std::move(grads)};
    }
  };
}

// The gradients alone.
template <class F>
[[nodiscard]] auto grad(F f, Filter wrt, GradOptions options = {}) {
  return [step = value_and_grad(std::move(f), std::move(wrt), std::move(options))]<class M, class... Args>(
             M& module, Args&&... args) { return step(module, std::forward<Args>(args)...).grads; };
}

}  // namespace strata::nn
