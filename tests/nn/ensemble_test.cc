// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/ensemble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "strata/nn/batch_norm.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear.h"
#include "strata/nn/mode.h"
#include "strata/nn/split.h"
#include "strata/nn/stack_states.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/linear_algebra.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/random.h"
#include "strata/tensor/reduce.h"
#include "strata/tensor/thread_pool.h"
#include "support/compare.h"

namespace strata::nn {
namespace {

using support::difference;
using support::within;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Net {
  Linear hidden;
  BatchNorm norm;
  Dropout dropout;
  Linear out;

  explicit Net(Rngs& rngs) : hidden{2, 3, rngs}, norm{3, rngs}, dropout{0.5, rngs}, out{3, 2, rngs} {}
  Tensor operator()(const Tensor& x) { return out(dropout(tanh(norm(hidden(x))))); }
  STRATA_FIELDS(hidden, norm, dropout, out)
};

// Where calls change no variable.
struct Plain {
  Linear linear;

  explicit Plain(Rngs& rngs) : linear{2, 2, rngs} {}
  Tensor operator()(const Tensor& x) const { return linear(x); }
  STRATA_FIELDS(linear)
};

Rngs two_streams() { return Rngs(0, {{"dropout", 1}}); }

Tensor inputs() { return arange(8).astype(DType::float32).reshape({4, 2}); }

std::vector<Net> separate_nets(Index count) {
  Rngs rngs = two_streams();
  std::vector<Net> nets;
  for (Rngs& of_member : rngs.split(count)) nets.emplace_back(of_member);
  return nets;
}

std::vector<State> states_of(const std::vector<Net>& nets) {
  std::vector<State> states;
  for (const Net& net : nets) states.push_back(state(net));
  return states;
}

Tensor loss_of(Net& net, const Tensor& x) {
  const Tensor y = net(x);
  return mean(y * y);
}

// The numbers are those of flax.nnx 0.12.8: split_rngs(splits=3) and vmap of a constructor, Rngs(0, dropout=1).
TEST(Ensemble, StartsFromTheNumbersOfFlax) {
  Rngs rngs = two_streams();
  const Ensemble ensemble(3, rngs, [](Rngs& r) { return Net(r); });
  const State all = state(ensemble);
  EXPECT_TRUE(identical(
      all.at({"dropout", "rngs", "key"}),
      tensor<std::uint32_t>({3779159788, 2663927681, 1254258977, 2664581614, 1683752645, 1464343246}, {3, 2})));
  EXPECT_TRUE(identical(all.at({"dropout", "rngs", "count"}), tensor<std::uint32_t>({0, 0, 0})));
  const Tensor kernels = tensor(
      {-1.0717307329177856F, -0.2693745791912079F, -0.12378992885351181F, -0.5948424339294434F, 0.24299298226833344F,
       -0.2705581486225128F, -1.423086166381836F, 0.7433452606201172F, -0.27385714650154114F, -1.3142197132110596F,
       -0.7550653219223022F, -0.17594850063323975F, -1.2214607000350952F, -0.4930047392845154F, 0.7796305418014526F,
       -0.5476636290550232F, 0.47858819365501404F, -1.0473498106002808F},
      {3, 2, 3});
  EXPECT_EQ(difference(all.at({"hidden", "kernel"}), kernels, support::within_ulps(1)), "");
  EXPECT_EQ(rngs.stream("default").count.value().item<int>(), 1);
}

TEST(Ensemble, HasThePathsOfTheModule) {
  Rngs rngs = two_streams();
  const Ensemble<Net> ensemble(3, rngs);
  EXPECT_EQ(state(ensemble), stack_states(states_of(separate_nets(3))));
  EXPECT_EQ(ensemble.size(), 3);
}

TEST(Ensemble, EqualsSeparateRunsBitForBit) {
  Rngs rngs = two_streams();
  Ensemble<Net> ensemble(3, rngs);
  std::vector<Net> nets = separate_nets(3);
  for (int call = 0; call < 2; ++call) {
    const Tensor y = ensemble(inputs());
    for (Index i = 0; i < 3; ++i) EXPECT_TRUE(identical(y[i], nets[static_cast<std::size_t>(i)](inputs())));
    EXPECT_EQ(state(ensemble), stack_states(states_of(nets)));  // running statistics and counts of draws
  }
}

TEST(Ensemble, MapsArgumentsAlongAnyAxis) {
  Rngs rngs(0);
  const Ensemble<Plain> ensemble(3, rngs);
  const Tensor xs = arange(24).astype(DType::float32).reshape({4, 3, 2});
  const Tensor y = ensemble(mapped(xs, 1));
  EXPECT_EQ(y.shape(), (Shape{3, 4, 2}));
  for (Index i = 0; i < 3; ++i) {
    EXPECT_TRUE(identical(y[i], ensemble.member(i)(slice_axis(xs, 1, i, i + 1).reshape({4, 2}))));
  }
}

TEST(Ensemble, PassesOtherArgumentsOn) {
  Rngs rngs = two_streams();
  Ensemble<Net> ensemble(2, rngs);
  const Tensor y = ensemble.map(
      [](Net& net, const Tensor& x, const DropoutCall& call, double scale) { return net.dropout(x, call) * scale; },
      ones({2}), DropoutCall{.deterministic = true}, 2.0);
  EXPECT_TRUE(identical(y, full({2, 2}, 2.0F)));
}

TEST(Ensemble, StacksTuplesOfResults) {
  Rngs rngs(0);
  Ensemble<Plain> ensemble(2, rngs);
  const auto [y, rest_of] = ensemble.map(
      [](Plain& net, const Tensor& x) { return std::pair(net(x), std::tuple(sum(x), state(net, of_type<Param>))); },
      ones({2}));
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  EXPECT_TRUE(identical(std::get<0>(rest_of), full({2}, 2.0F)));
  EXPECT_EQ(std::get<1>(rest_of), state(ensemble));
}

TEST(Ensemble, AFunctionMayReturnNothing) {
  Rngs rngs(0);
  Ensemble<Plain> ensemble(2, rngs);
  ensemble.map([](Plain& net, const Tensor& x) { net.linear.bias->set_value(x); }, mapped(eye(2)));
  EXPECT_TRUE(identical(state(ensemble).at({"linear", "bias"}), eye(2)));
}

TEST(Ensemble, GradientsOfASumAreThoseOfSeparateRuns) {
  Rngs rngs = two_streams();
  Ensemble<Net> ensemble(3, rngs);
  std::vector<Net> nets = separate_nets(3);
  const auto step =
      value_and_grad([](Ensemble<Net>& m, const Tensor& x) { return sum(m.map(loss_of, x)); }, of_type<Param>);
  const auto of_one = value_and_grad(loss_of, of_type<Param>);
  const auto [loss, grads] = step(ensemble, inputs());
  std::vector<State> separate;
  for (Net& net : nets) separate.push_back(of_one(net, inputs()).grads);
  EXPECT_EQ(grads, stack_states(separate));
  EXPECT_EQ(state(ensemble), stack_states(states_of(nets)));
}

TEST(Ensemble, ALossOfEachMemberHasTheGradientsOfSeparateRuns) {
  Rngs rngs = two_streams();
  Ensemble<Net> ensemble(3, rngs);
  std::vector<Net> nets = separate_nets(3);
  const auto of_one = value_and_grad(loss_of, of_type<Param>);
  const auto [losses, grads] = ensemble.map(of_one, inputs());
  std::vector<State> separate;
  for (std::size_t i = 0; i < nets.size(); ++i) {
    const auto [loss, of_net] = of_one(nets[i], inputs());
    EXPECT_TRUE(identical(losses[static_cast<Index>(i)], loss));
    separate.push_back(of_net);
  }
  EXPECT_EQ(grads, stack_states(separate));
  EXPECT_EQ(state(ensemble), stack_states(states_of(nets)));
}

TEST(Ensemble, GradientsReachArguments) {
  Rngs rngs(0);
  Ensemble<Plain> ensemble(2, rngs);
  GradientTape tape;
  const Tensor x = tape.watch(ones({2}));
  const Tensor xs = tape.watch(ones({2, 2}));
  const Tensor loss =
      sum(ensemble.map([](Plain& net, const Tensor& a, const Tensor& b) { return net(a * b); }, x, mapped(xs)));
  const std::vector<Tensor> gradients = tape.gradient(loss, {x, xs});
  const Tensor per_member = sum(state(ensemble).at({"linear", "kernel"}).value(), {-1});
  EXPECT_EQ(difference(gradients[0], per_member[0] + per_member[1], within(1e-6)), "");
  EXPECT_EQ(difference(gradients[1], per_member, within(1e-6)), "");
}

TEST(Ensemble, SharedParametersGetTheSumOfTheGradients) {
  Rngs rngs(0);
  const Plain net(rngs);
  Ensemble<Plain> ensemble(std::vector<Plain>{net, net, net}, {{rest, shared}});
  const auto step = value_and_grad([](Ensemble<Plain>& m) { return sum(m(ones({2}))); }, of_type<Param>);
  EXPECT_TRUE(identical(step(ensemble).grads.at({"linear", "bias"}), full({2}, 3.0F)));
}

TEST(Ensemble, WhatMembersWriteKeepsItsGradient) {
  Rngs rngs(0);
  Ensemble<Plain> ensemble(2, rngs);
  const auto step = value_and_grad(
      [](Ensemble<Plain>& m) {
        m.map([](Plain& net) { net.linear.bias->set_value(net.linear.bias->value() * 3); });
        return sum(m(zeros({2})));
      },
      path_contains("bias"));
  EXPECT_TRUE(identical(step(ensemble).grads.at({"linear", "bias"}), full({2, 2}, 3.0F)));
}

TEST(Ensemble, UsingAWatchedTensorFromOutsideIsAnErrorInEveryThread) {
  Rngs rngs(0);
  Ensemble<Plain> ensemble(4, rngs);
  GradientTape tape;
  const Tensor x = tape.watch(ones({2}));
  const auto used = [&](Plain& net) { return net(x); };
  const auto returned = [&](Plain&) { return x; };
  EXPECT_THROW((void)ensemble.map(used), GradientError);
  EXPECT_THROW((void)ensemble.map(returned), GradientError);
  EXPECT_TRUE(identical(tape.gradient(sum(x), {x})[0], ones({2})));
}

TEST(Ensemble, HasTheSameBitsForAnyNumberOfThreads) {
  const int before = num_threads();
  std::vector<State> gradients;
  std::vector<State> states;
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    Rngs rngs = two_streams();
    Ensemble<Net> ensemble(7, rngs);
    const auto step =
        value_and_grad([](Ensemble<Net>& m, const Tensor& x) { return sum(m.map(loss_of, x)); }, of_type<Param>);
    for (int i = 0; i < 3; ++i) gradients.push_back(step(ensemble, inputs()).grads);
    states.push_back(state(ensemble));
  }
  set_num_threads(before);
  EXPECT_EQ(states[0], states[1]);
  EXPECT_EQ(states[0], states[2]);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(gradients[i], gradients[3 + i]);
    EXPECT_EQ(gradients[i], gradients[6 + i]);
  }
}

TEST(Ensemble, SharedStatisticsAreReadInEvaluationMode) {
  Rngs rngs = two_streams();
  Ensemble<Net> ensemble(2, rngs, {{of_type<BatchStat>, shared}, {rest, 0}});
  EXPECT_EQ(state(ensemble).at({"norm", "mean"}).value().shape(), Shape{3});
  eval(ensemble);
  EXPECT_EQ(ensemble(inputs()).shape(), (Shape{2, 4, 2}));
}

TEST(Ensemble, WritingSharedStatisticsIsAnErrorThatChangesNothing) {
  Rngs rngs = two_streams();
  Ensemble<Net> ensemble(2, rngs, {{of_type<BatchStat>, shared}, {rest, 0}});
  const State before = state(ensemble);
  EXPECT_THAT([&] { (void)ensemble(inputs()); },
              ThrowsMessage<StateError>(HasSubstr("norm/mean (BatchStat float32[3]), norm/var")));
  EXPECT_EQ(state(ensemble), before);
}

TEST(Ensemble, AMemberThatThrowsChangesNothing) {
  Rngs rngs(0);
  Ensemble<Plain> ensemble(3, rngs);
  const State before = state(ensemble);
  const auto fail = [](Plain& net, const Tensor& number) {
    net.linear.bias->set_value(ones({2}));
    if (number.item<int>() == 2) throw std::runtime_error("the last member");
  };
  EXPECT_THROW(ensemble.map(fail, mapped(arange(3))), std::runtime_error);
  EXPECT_EQ(state(ensemble), before);
}

TEST(Ensemble, AConstEnsembleKeepsNothing) {
  struct Counter {
    std::shared_ptr<Variable> count = std::make_shared<Variable>(scalar(0));
    Tensor operator()() const {
      count->set_value(count->value() + 1);
      return count->value();
    }
    STRATA_FIELDS(count)
  };
  const Ensemble<Counter> ensemble(std::vector<Counter>(2));
  EXPECT_THAT([&] { (void)ensemble(); }, ThrowsMessage<StateError>(HasSubstr("count")));
}

TEST(Ensemble, MappedArgumentsHaveAnEntryForEachMember) {
  Rngs rngs(0);
  Ensemble<Plain> ensemble(3, rngs);
  EXPECT_THAT(
      [&] {
        (void)ensemble(mapped(ones({4, 2})));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("float32[4, 2]"), HasSubstr("3 members along axis 0"))));
  EXPECT_THROW((void)ensemble(mapped(ones({3, 2}), 2)), ShapeError);
}

TEST(Ensemble, VariablesWithoutMembersAreNamed) {
  Rngs rngs(0);
  Ensemble<Plain> ensemble(3, rngs);
  ensemble.stacked().linear.bias->reset(zeros({2, 2}));
  EXPECT_THAT([&] { (void)ensemble(ones({2})); },
              ThrowsMessage<ShapeError>(HasSubstr("linear/bias (Param float32[2, 2], axis 0)")));
}

TEST(Ensemble, ResultsAreAlike) {
  Rngs rngs(0);
  Ensemble<Plain> ensemble(2, rngs);
  const auto growing = [](Plain&, const Tensor& n) { return zeros({n.item<Index>()}); };
  EXPECT_THROW((void)ensemble.map(growing, mapped(arange(2))), ShapeError);
}

TEST(Ensemble, MembersAreAlike) {
  Rngs rngs = two_streams();
  std::vector<Net> nets = separate_nets(2);
  nets[1].dropout.rate = 0.1;
  EXPECT_THAT([&] { const Ensemble<Net> ensemble(nets); }, ThrowsMessage<StateError>(HasSubstr("member 1")));
  EXPECT_THROW(Ensemble<Net>(std::vector<Net>{}), ValueError);
  EXPECT_THROW(Ensemble<Net>(0, rngs), ValueError);
  EXPECT_THROW(Ensemble<Net>(-1, rngs), ValueError);
}

TEST(Ensemble, ParametersThatAreToBeSharedAreEqual) {
  Rngs rngs(0);
  EXPECT_THAT(
      [&] {
        const Ensemble<Plain> ensemble(2, rngs, {{rest, shared}});
      },
      ThrowsMessage<StateError>(HasSubstr("linear/kernel (Param float32[2, 2])")));
}

TEST(Ensemble, ASharedObjectHasOneAxis) {
  struct Tied {
    std::shared_ptr<Plain> encoder;
    std::shared_ptr<Plain> decoder;
    explicit Tied(Rngs& rngs) : encoder(std::make_shared<Plain>(rngs)), decoder(encoder) {}
    Tensor operator()(const Tensor& x) const { return (*encoder)((*decoder)(x)); }
    STRATA_FIELDS(encoder, decoder)
  };
  Rngs rngs(0);
  EXPECT_THAT(
      [&] {
        const Ensemble<Tied> ensemble(2, rngs, {{path_contains("encoder"), 0}, {rest, 1}});
      },
      ThrowsMessage<StateError>(HasSubstr("decoder/linear/kernel (axis 1) is also encoder/linear/kernel (axis 0)")));
  Ensemble<Tied> ensemble(2, rngs);
  EXPECT_EQ(state(ensemble).size(), 2);
  EXPECT_TRUE(identical(ensemble(ones({2}))[1], ensemble.member(1)(ones({2}))));
}

TEST(Ensemble, IsSplitMergedAndCloned) {
  Rngs rngs = two_streams();
  Ensemble<Net> ensemble(2, rngs, {{path_contains("out"), 1}, {rest, 0}});
  auto [graph, params, others] = split(ensemble, of_type<Param>, rest);
  Ensemble<Net> merged = merge(graph, params, others);
  Ensemble<Net> cloned = clone(ensemble);
  EXPECT_EQ(merged.axes(), ensemble.axes());
  const Tensor y = ensemble(inputs());
  EXPECT_TRUE(identical(merged(inputs()), y));
  EXPECT_TRUE(identical(cloned(inputs()), y));
}

TEST(Ensemble, TheAxesArePartOfTheGraph) {
  Rngs rngs(0);
  EXPECT_NE(graph_def(Ensemble<Plain>(2, rngs)), graph_def(Ensemble<Plain>(2, rngs, -1)));
  EXPECT_NE(graph_def(Ensemble<Plain>(2, rngs)), graph_def(Ensemble<Plain>(3, rngs)));
  EXPECT_EQ(graph_def(Ensemble<Plain>(2, rngs)), graph_def(Ensemble<Plain>(2, rngs)));
  EXPECT_THAT(to_string(graph_def(Ensemble<Plain>(2, rngs))), HasSubstr("2 members, StateAxes({rest: 0})"));
}

TEST(Ensemble, MembersThatCannotBeCopiedAreMergedToo) {
  struct Owner {
    std::unique_ptr<Plain> net;
    Owner() = default;
    explicit Owner(Rngs& rngs) : net(std::make_unique<Plain>(rngs)) {}
    Tensor operator()(const Tensor& x) const { return (*net)(x); }
    STRATA_FIELDS(net)
  };
  Rngs rngs(0);
  const Ensemble<Owner> ensemble(2, rngs);
  const auto [graph, all] = split(ensemble);
  EXPECT_TRUE(identical(merge(graph, all)(ones({2})), ensemble(ones({2}))));
}

TEST(Ensemble, KeepsPlainValuesThatAllMembersChangeAlike) {
  Rngs rngs = two_streams();
  Ensemble<Net> ensemble(2, rngs);
  ensemble.map([](Net& net) { net.dropout.rate = 0.25; });
  EXPECT_EQ(ensemble.stacked().dropout.rate, 0.25);
  EXPECT_EQ(ensemble(inputs()).shape(), (Shape{2, 4, 2}));
  EXPECT_THROW(ensemble.map([](Net& net, const Tensor& rate) { net.dropout.rate = rate.item<double>(); },
                            mapped(tensor({0.1, 0.2}))),
               StateError);
  EXPECT_EQ(ensemble.stacked().dropout.rate, 0.25);
}

TEST(Ensemble, StacksVariablesThatACallAdds) {
  struct Remembers {
    std::optional<Cache> last;
    Tensor operator()(const Tensor& x) {
      last = Cache(x);
      return x;
    }
    STRATA_FIELDS(last)
  };
  Ensemble<Remembers> ensemble(std::vector<Remembers>(2));
  (void)ensemble(mapped(eye(2)));
  EXPECT_EQ(state(ensemble), (State{{{"last"}, Cache(eye(2))}}));
  (void)ensemble(mapped(ones({2, 2})));
  EXPECT_EQ(state(ensemble), (State{{{"last"}, Cache(ones({2, 2}))}}));
}

TEST(Ensemble, StandsInModulesAndInEnsembles) {
  struct Heads {
    Ensemble<Plain> heads;
    explicit Heads(Rngs& rngs) : heads{2, rngs} {}
    Tensor operator()(const Tensor& x) { return heads(x); }
    STRATA_FIELDS(heads)
  };
  Rngs rngs(0);
  Ensemble<Heads> ensemble(3, rngs);
  EXPECT_EQ(state(ensemble).at({"heads", "linear", "kernel"}).value().shape(), (Shape{3, 2, 2, 2}));
  const auto step = value_and_grad([](Ensemble<Heads>& m) { return sum(m(ones({2}))); }, of_type<Param>);
  const auto [loss, grads] = step(ensemble);
  EXPECT_TRUE(identical(grads.at({"heads", "linear", "kernel"}), ones({3, 2, 2, 2})));
  EXPECT_TRUE(identical(ensemble(ones({2}))[1], ensemble.member(1)(ones({2}))));
}

TEST(Ensemble, ThereIsNoMemberBeyondTheLast) {
  Rngs rngs(0);
  const Ensemble<Plain> ensemble(2, rngs);
  EXPECT_THROW((void)ensemble.member(2), ValueError);
  EXPECT_THROW((void)ensemble.member(-1), ValueError);
}

// Axes that suit each of the variables: kernels of rank 2, biases of rank 1.
StateAxes any_axes() {
  const int kernel = *rc::gen::inRange(-3, 3);
  const int bias = *rc::gen::inRange(-2, 2);
  return {{path_contains("kernel"), kernel}, {of_type<Param>, bias}, {rest, 0}};
}

RC_GTEST_PROP(EnsembleProperty, EqualsSeparateRuns, ()) {
  const Index size = *rc::gen::inRange<Index>(1, 6);
  const auto seed = *rc::gen::inRange(0, 1000);
  const StateAxes axes = any_axes();
  Rngs rngs(seed);
  Rngs same(seed);
  Ensemble<Net> ensemble(size, rngs, axes);
  std::vector<Net> nets;
  for (Rngs& of_member : same.split(size)) nets.emplace_back(of_member);
  const int axis = *rc::gen::inRange(-3, 3);
  const Tensor xs = random::normal(random::key(seed), {size, 4, 2});
  const auto of_one = value_and_grad(loss_of, of_type<Param>);
  const auto step =
      value_and_grad([](Ensemble<Net>& m, const Mapped& x) { return sum(m.map(loss_of, x)); }, of_type<Param>);
  const State grads = step(ensemble, mapped(move_axis(xs, 0, axis), axis)).grads;
  std::vector<State> separate;
  for (Index i = 0; i < size; ++i) separate.push_back(of_one(nets[static_cast<std::size_t>(i)], xs[i]).grads);
  RC_ASSERT(grads == stack_states(separate, axes));
  RC_ASSERT(state(ensemble) == stack_states(states_of(nets), axes));
}

}  // namespace
}  // namespace strata::nn
