// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/nn/internal/member_arguments.h"
#include "strata/nn/internal/member_calls.h"
#include "strata/nn/internal/member_result.h"
#include "strata/nn/internal/stacked_module.h"

namespace strata::nn {

// Several copies of a module, made and run as one. Its variables are those of M, under the same paths, with one more
// axis: of each variable, the axes say which one, or that all members share one variable, which they read but must not
// write. So split, merge, update, optimizers and checkpoints take an ensemble like any module.
//
//   nn::Ensemble ensemble(8, rngs, [](Rngs& r) { return MLP(r); });
//   Tensor y = ensemble(x);               // [8, batch, features]: x is the same for all members
//   Tensor z = ensemble(nn::mapped(xs));  // member i gets xs[i]
//
// Members are called in parallel, on the threads of the pool, each on a module of its own: what they compute, their
// gradients included, has the same bits as in separate runs, and for any number of threads. What they write to
// variables (statistics, counts of draws) is stacked again after the last one; if one throws, nothing is changed.
// Gradients flow to the variables and to tensors among the arguments; other tensors that are watched outside must not
// be used within, which is a GradientError.
//
// Source: nnx.vmap with nnx.split_rngs and nnx.StateAxes of Flax 0.12: members start from the same numbers.
template <class M>
class Ensemble : public internal::StackedModule<M> {
  using Base = internal::StackedModule<M>;

 public:
  // `size` members, each made by make(Rngs&), or M(Rngs&), from its own part of the streams: rngs.split(size). Throws
  // ValueError if size < 1, and what the constructor from members throws.
  template <internal::MemberFactory<M> F>
  Ensemble(Index size, Rngs& rngs, F&& make, const StateAxes& axes = 0)
      : Ensemble(internal::make_members<M>(size, rngs, make), axes) {}
  Ensemble(Index size, Rngs& rngs, const StateAxes& axes = 0) requires std::is_constructible_v<M, Rngs&>
      : Ensemble(
            size, rngs, [](Rngs& of_member) { return M(of_member); }, axes) {}

  // Copies of these members, which must be alike but for the values of their variables. Throws ValueError if there are
  // none; StateError if they are not alike, if variables that are to be shared differ, if no filter takes a variable,
  // or if a shared object would have two axes; ShapeError if there is no place for an axis. Each lists the paths.
  explicit Ensemble(const std::vector<M>& members, const StateAxes& axes = 0) : Base(members, axes) {}

  // What each member returns, stacked along the leading axis. Tensors and variables among the arguments are the same
  // for all members, nn::mapped ones are not, everything else is passed on as it is. Throws ShapeError if variables,
  // mapped arguments or results do not have fitting sizes, StateError if members write a variable that they share.
  template <class... A>
  auto operator()(const A&... arguments) {
    return map([](M& member, const auto&... of_member) { return member(of_member...); }, arguments...);
  }
  template <class... A>
  auto operator()(const A&... arguments) const {
    return map([](const M& member, const auto&... of_member) { return member(of_member...); }, arguments...);
  }

  // The same for f(member, arguments...), which several threads call at once. It returns nothing, a Tensor, a State, or
  // pairs and tuples of them. What value_and_grad made may be mapped as well, for a loss and gradients of each member:
  //
  //   auto [losses, grads] = ensemble.map(nn::value_and_grad(loss, of_type<Param>), x);
  template <class F, class... A>
  auto map(const F& f, const A&... arguments) {
    return run(*this, f, arguments...);
  }
  template <class F, class... A>
  auto map(const F& f, const A&... arguments) const {
    return run(*this, f, arguments...);
  }

 private:
  friend struct strata::Blank<Ensemble>;
  using Base::Base;

  template <class Self, class F, class... A>
  static auto run(Self& self, const F& f, const A&... arguments) {
    using Member = std::conditional_t<std::is_const_v<Self>, const M, M>;
    using R = std::decay_t<std::invoke_result_t<const F&, Member&, internal::MemberArgument<A>...>>;
    constexpr bool is_void = std::is_void_v<R>;
    using Kept = std::conditional_t<is_void, std::tuple<>, R>;

    internal::MemberCalls calls(strata::internal::node_of(self), strata::internal::node_of(self.module_), self.layout_,
                                internal::inputs_of(arguments...), internal::Recording::by_member);
    std::vector<std::optional<M>> members(static_cast<std::size_t>(self.layout_.size));
    std::vector<std::optional<Kept>> results(members.size());
    calls.for_each([&](Index index) {
      std::optional<M>& member = members[static_cast<std::size_t>(index)];
      member.emplace(strata::internal::clone(self.module_));
      const strata::internal::Node node = strata::internal::node_of(*member);
      const std::vector<Tensor> tensors = calls.begin(index, node);
      const auto call = [&]() -> decltype(auto) {
        return internal::call_member(f, tensors, std::tuple<Member&>(*member), arguments...);
      };
      std::optional<Kept>& result = results[static_cast<std::size_t>(index)];
      if constexpr (is_void) {
        call();
        result.emplace();
      } else {
        result.emplace(call());
      }
      std::vector<Tensor> parts;
      internal::MemberResult<Kept>::parts(*result, parts);
      calls.end(index, node, std::move(parts));
    });
    for (std::size_t i = 1; i < results.size(); ++i) {
      internal::MemberResult<Kept>::check_alike(*results.front(), *results[i]);
    }
    const std::vector<Tensor> stacked = self.commit(calls, members, *results.front());
    internal::TensorReader next = stacked.begin();
    if constexpr (!is_void) return internal::MemberResult<Kept>::join(*results.front(), next);
  }

  template <class R>
  std::vector<Tensor> commit(internal::MemberCalls& calls, std::vector<std::optional<M>>& members, const R& first) {
    internal::MemberCalls::Result result = finish(calls, members, first);
    if (result.changed) {
      this->module_ = std::move(*members.front());
      this->layout_ = std::move(*result.changed);
    }
    return std::move(result.outputs);
  }
  template <class R>
  std::vector<Tensor> commit(internal::MemberCalls& calls, std::vector<std::optional<M>>& members,
                             const R& first) const {
    calls.check_unchanged();
    return finish(calls, members, first).outputs;
  }

  template <class R>
  internal::MemberCalls::Result finish(internal::MemberCalls& calls, std::vector<std::optional<M>>& members,
                                       const R& first) const {
    std::vector<strata::internal::Node> nodes;
    for (const std::optional<M>& member : members) nodes.push_back(strata::internal::node_of(*member));
    std::vector<int> axes;
    internal::MemberResult<R>::axes(first, this->layout_, axes);
    return calls.finish(nodes, axes);
  }
};

template <class F>
Ensemble(Index, Rngs&, F&&, const StateAxes& = 0) -> Ensemble<std::decay_t<std::invoke_result_t<F&, Rngs&>>>;

}  // namespace strata::nn

template <class M>
struct strata::Blank<strata::nn::Ensemble<M>> {
  static nn::Ensemble<M> make() { return nn::Ensemble<M>(Blank<M>::make()); }
};

template <class M>
struct strata::internal::Contents<strata::nn::Ensemble<M>> : ContentsOf<M> {};

template <class M>
struct strata::internal::ContainerType<strata::nn::Ensemble<M>> : nn::internal::StackedType<nn::Ensemble<M>> {};
