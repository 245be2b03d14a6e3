// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/nn/internal/member_arguments.h"
#include "strata/nn/internal/member_calls.h"
#include "strata/nn/internal/stacked_module.h"

namespace strata::nn {

// Layers of one kind, one after the other, with their variables stacked along an axis in one state: the paths are those
// of M, with the number of layers as one more size. The numbers, gradients included, are those of separate layers.
//
//   nn::Repeat blocks(12, rngs, [](Rngs& r) { return Block(r); });
//   Tensor y = blocks(x);  // layer 11 (... layer 1 (layer 0 (x)))
//
// Variables without an axis are shared by all layers, which read but must not write them.
//
// Source: nnx.scan over a module made by nnx.vmap and nnx.split_rngs of Flax 0.12: layers start from the same numbers.
template <class M>
class Repeat : public internal::StackedModule<M> {
  using Base = internal::StackedModule<M>;

 public:
  // Constructors and their errors are those of Ensemble.
  template <internal::MemberFactory<M> F>
  Repeat(Index size, Rngs& rngs, F&& make, const StateAxes& axes = 0)
      : Repeat(internal::make_members<M>(size, rngs, make), axes) {}
  Repeat(Index size, Rngs& rngs, const StateAxes& axes = 0) requires std::is_constructible_v<M, Rngs&>
      : Repeat(
            size, rngs, [](Rngs& of_layer) { return M(of_layer); }, axes) {}
  explicit Repeat(const std::vector<M>& layers, const StateAxes& axes = 0) : Base(layers, axes) {}

  // What the last layer returns; each is called as layer(carry, arguments...) with what the one before returned.
  // Arguments marked by nn::mapped have an entry for each layer. Throws ShapeError if variables or mapped arguments do
  // not have as many entries as there are layers, StateError if layers write a variable that they share; the state is
  // then as it was.
  template <class Carry, class... A>
  [[nodiscard]] Carry operator()(Carry carry, const A&... arguments) {
    return fold([](M& layer, Carry&& x, const auto&... of_layer) -> Carry { return layer(std::move(x), of_layer...); },
                std::move(carry), arguments...);
  }

  // The same for f(layer, carry, arguments...), which returns the next carry: of any type that can be moved.
  template <class F, class Carry, class... A>
  [[nodiscard]] Carry fold(const F& f, Carry carry, const A&... arguments) {
    internal::MemberCalls calls(strata::internal::node_of(*this), strata::internal::node_of(this->module_),
                                this->layout_, internal::inputs_of(arguments...), internal::Recording::in_place);
    std::vector<M> layers;
    layers.reserve(static_cast<std::size_t>(this->layout_.size));
    calls.for_each([&](Index index) {
      M& layer = layers.emplace_back(strata::internal::clone(this->module_));
      const strata::internal::Node node = strata::internal::node_of(layer);
      const std::vector<Tensor> tensors = calls.begin(index, node);
      carry = internal::call_member(f, tensors, std::tuple<M&, Carry&&>(layer, std::move(carry)), arguments...);
      calls.end(index, node, {});
    });
    internal::MemberCalls::Result result = calls.finish(internal::nodes_of(layers), {});
    if (result.changed) {
      this->module_ = std::move(layers.front());
      this->layout_ = std::move(*result.changed);
    }
    return carry;
  }

 private:
  friend struct strata::Blank<Repeat>;
  using Base::Base;
};

template <class F>
Repeat(Index, Rngs&, F&&, const StateAxes& = 0) -> Repeat<std::decay_t<std::invoke_result_t<F&, Rngs&>>>;

}  // namespace strata::nn

template <class M>
struct strata::Blank<strata::nn::Repeat<M>> {
  static nn::Repeat<M> make() { return nn::Repeat<M>(Blank<M>::make()); }
};

template <class M>
struct strata::internal::Contents<strata::nn::Repeat<M>> : ContentsOf<M> {};

template <class M>
struct strata::internal::ContainerType<strata::nn::Repeat<M>> : nn::internal::StackedType<nn::Repeat<M>> {};
