// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "strata/filters/filter.h"
#include "strata/nn/internal/collector.h"
#include "strata/nn/internal/observers.h"
#include "strata/nn/internal/perturbations.h"
#include "strata/nn/node_filter.h"
#include "strata/state/internal/node_of.h"

// Values from the middle of a computation: layers name them where they are computed, whoever runs the module collects
// them. Nothing stays in the module.
namespace strata::nn {

// Hands out a value under a name, to an nn::capture that is at work; without one, does nothing but look at a
// thread-local pointer. For use within a layer:
//
//   Tensor operator()(const Tensor& x) {
//     const Tensor h = relu(hidden(x));
//     nn::sow(*this, "activation", h);
//     return out(h);
//   }
//
// Values of one name are a list, in the order of the calls: `encoder/activation/0`, `encoder/activation/1`, and so on,
// even if there is only one. Throws StateError if the layer is not part of the captured module (another one, a copy,
// one that moved meanwhile), if it has a field of this name, or if the name was used for another kind or in another
// way.
//
// Source: nnx.Module.sow of Flax 0.12, whose Variable holds a tuple of the values.
template <std::derived_from<Variable> K = Intermediate, Module M>
void sow(const M& layer, std::string_view name, const Tensor& value) {
  if (internal::Collector* const collector = internal::observers().collector) {
    collector->sow(strata::internal::node_of(layer), name, kind_of<K>(), value);
  }
}

// The same, with one value for all calls, at `encoder/total`: the first one, or reduce(init, first), then
// reduce(so_far, next) for each further call.
//
//   nn::sow(*this, "total", sum(h), [](const Tensor& so_far, const Tensor& next) { return so_far + next; });
template <std::derived_from<Variable> K = Intermediate, Module M, std::invocable<const Tensor&, const Tensor&> Reduce>
void sow(const M& layer, std::string_view name, const Tensor& value, const Reduce& reduce) {
  if (internal::Collector* const collector = internal::observers().collector) {
    collector->sow(strata::internal::node_of(layer), name, kind_of<K>(), value, std::cref(reduce), nullptr);
  }
}
template <std::derived_from<Variable> K = Intermediate, Module M, std::invocable<const Tensor&, const Tensor&> Reduce>
void sow(const M& layer, std::string_view name, const Tensor& value, const Reduce& reduce, const Tensor& init) {
  if (internal::Collector* const collector = internal::observers().collector) {
    collector->sow(strata::internal::node_of(layer), name, kind_of<K>(), value, std::cref(reduce), &init);
  }
}

// x, given a name under which it can be changed and differentiated. nn::capture gives zeros of its shape at the path,
// of kind Perturbation, or adds the value that it was given for the path; nn::value_and_grad gives the gradient of the
// loss with respect to x, if it was asked for perturbations. Where neither is at work, x itself.
//
//   const Tensor h = nn::perturb(*this, "hidden", relu(hidden(x)));
//
// All calls with one name share one perturbation, so that its gradient is the sum over them; their values must have one
// shape and element type, or ShapeError is thrown. Other errors are those of sow.
//
// Source: nnx.Module.perturb of Flax 0.12.
template <Module M>
[[nodiscard]] Tensor perturb(const M& layer, std::string_view name, const Tensor& x) {
  const internal::Observers& observers = internal::observers();
  if (observers.collector == nullptr && observers.perturbations == nullptr) return x;
  return internal::perturb(strata::internal::node_of(layer), name, x);
}

struct CaptureOptions {
  // Which values are kept, by their paths, kinds, shapes and so on.
  Filter filter = everything;

  // Modules whose results are kept as well, without a word in them, where they are called by nn::call:
  // `layers/0/__call__/0` is what the first call of layer 0 returned, `.../__call__/0/1` the second tensor of a tuple.
  // Results that are neither tensors nor tuples of them are passed over.
  std::optional<NodeFilter> outputs_of = {};

  // Added to what layers name by nn::perturb.
  State perturbations = {};
};

// What a run returned, and what its layers handed out.
template <class Value>
struct Captured {
  Value value;
  State state;
};

// Runs a module and collects what its layers sow and perturb, for example
//
//   auto [y, values] = nn::capture(model, [&](Model& m) { return m(x); });
//   auto [zeros, others] = strata::split(values, of_type<Perturbation>, rest);
//
// `run` gets the module itself, and may return nothing: then the state alone comes back. Paths are those of the layers
// when the first value is handed out. Values keep their history: within nn::value_and_grad, gradients flow through
// them. Members of an Ensemble or a Repeat hand out one value for all of them, stacked along a new leading axis, under
// the paths of the stacked module. The innermost capture of this thread collects; a module that is no part of what it
// captures runs in a capture of its own.
//
// Throws StateError if a perturbation was given that no layer asks for.
//
// Source: nnx.capture of Flax 0.12.
template <class M, std::invocable<M&> F>
auto capture(M& module, F&& run, const CaptureOptions& options = {}) {
  using Value = std::decay_t<std::invoke_result_t<F, M&>>;
  internal::Collector collector(
      strata::internal::node_of(module),
      {options.filter, options.outputs_of ? &*options.outputs_of : nullptr, options.perturbations});
  const auto observed_run = [&]() -> Value {
    const internal::ObserverScope scope({&collector, internal::observers().perturbations});
    return std::invoke(std::forward<F>(run), module);
  };
  if constexpr (std::is_void_v<Value>) {
    observed_run();
    return std::move(collector).state();
  } else {
    Value value = observed_run();
    return Captured<Value>{std::move(value), std::move(collector).state()};
  }
}

}  // namespace strata::nn
