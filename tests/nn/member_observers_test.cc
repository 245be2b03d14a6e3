// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "strata/filters/split.h"
#include "strata/nn/capture.h"
#include "strata/nn/ensemble.h"
#include "strata/nn/repeat.h"
#include "strata/nn/value_and_grad.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/reduce.h"
#include "strata/tensor/thread_pool.h"

// What members of stacked modules sow and perturb.
namespace strata::nn {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Layer {
  Tensor operator()(const Tensor& x) const {
    const Tensor h = perturb(*this, "hidden", x * weight.value());
    sow(*this, "twice", h * 2.0);
    sow(*this, "total", sum(h), [](const Tensor& so_far, const Tensor& next) { return so_far + next; });
    return h;
  }

  Param weight;
  STRATA_FIELDS(weight)
};

std::vector<Layer> layers() { return {Layer{Param(scalar(3.0))}, Layer{Param(scalar(5.0))}}; }

struct Net {
  Tensor operator()(const Tensor& x) { return members(x); }

  Ensemble<Layer> members{layers()};
  STRATA_FIELDS(members)
};

struct Deep {
  Tensor operator()(const Tensor& x) { return blocks(x); }

  Repeat<Layer> blocks{layers()};
  STRATA_FIELDS(blocks)
};

const Filter sown = of_type<Intermediate> && !of_type<Perturbation>;

TEST(MemberObservers, StacksWhatMembersSow) {
  Net net;
  const auto [y, values] = capture(net, [](Net& m) { return m(tensor({1.0, 2.0})); }, {.filter = sown});
  EXPECT_EQ(values, (State{{{"members", "total"}, Intermediate(tensor({9.0, 15.0}))},
                           {{"members", "twice", 0}, Intermediate(tensor({6.0, 12.0, 10.0, 20.0}, {2, 2}))}}));
}

TEST(MemberObservers, StacksWhatRepeatedLayersSow) {
  Deep net;
  const auto [y, values] = capture(net, [](Deep& m) { return m(tensor({1.0})); }, {.filter = path_contains("twice")});
  EXPECT_EQ(values, (State{{{"blocks", "twice", 0}, Intermediate(tensor({6.0, 30.0}, {2, 1}))}}));
}

TEST(MemberObservers, ListsGoOnWithTheNextCall) {
  Net net;
  const auto run = [](Net& m) {
    m.members.map([](const Layer& layer) {
      sow(layer, "list", layer.weight);
      sow(layer, "list", layer.weight.value() * 2.0);
    });
    m.members.map([](const Layer& layer) { sow(layer, "list", layer.weight.value() * 3.0); });
  };
  EXPECT_EQ(capture(net, run), (State{{{"members", "list", 0}, Intermediate(tensor({3.0, 5.0}))},
                                      {{"members", "list", 1}, Intermediate(tensor({6.0, 10.0}))},
                                      {{"members", "list", 2}, Intermediate(tensor({9.0, 15.0}))}}));
}

TEST(MemberObservers, RefusesASumOverSeveralCalls) {
  Net net;
  const auto run = [](Net& m) {
    (void)m(tensor({1.0}));
    (void)m(tensor({1.0}));
  };
  EXPECT_THAT([&] { (void)capture(net, run); }, ThrowsMessage<StateError>(HasSubstr("members/total is one value")));
}

TEST(MemberObservers, RefusesMembersThatHandOutDifferentNames) {
  Net net;
  const auto run = [](Net& m) {
    m.members.map([](const Layer& layer) {
      if (layer.weight.value().item<double>() > 4) sow(layer, "large", layer.weight);
    });
  };
  EXPECT_THAT([&] { (void)capture(net, run); }, ThrowsMessage<StateError>(HasSubstr("member 1 of a stacked module")));
}

TEST(MemberObservers, RefusesValuesOfDifferentShapes) {
  Net net;
  const auto run = [](Net& m) {
    m.members.map([](const Layer& layer) {
      sow(layer, "many", zeros({static_cast<Index>(layer.weight.value().item<double>())}));
    });
  };
  EXPECT_THAT([&] { (void)capture(net, run); }, ThrowsMessage<ShapeError>(HasSubstr("members/many")));
}

TEST(MemberObservers, RefusesMembersOfAnEnsembleOfOthers) {
  Net net;
  Net other;
  EXPECT_THAT([&] { (void)capture(net, [&](Net&) { return other(tensor({1.0})); }); },
              ThrowsMessage<StateError>(HasSubstr("comes from members of a stacked module")));
}

TEST(MemberObservers, FiltersSeeWholePathsAndTheValuesOfOneMember) {
  Net net;
  const Filter filter = [](const Path& path, const Variable& variable) {
    return path.starts_with({"members", "twice"}) && variable.value().shape() == Shape{1};
  };
  EXPECT_EQ(capture(net, [](Net& m) { return m(tensor({1.0})); }, {.filter = filter}).state.size(), 1);
}

TEST(MemberObservers, GradientsFlowThroughWhatTheyHandOut) {
  Net net;
  const auto loss = [](Net& m) {
    const State values = capture(m, [](Net& n) { (void)n(tensor({1.0})); });
    return sum(values.at({"members", "twice", 0}).value() * tensor({1.0, 10.0}, {2, 1}));
  };
  EXPECT_EQ(grad(loss, of_type<Param>)(net), (State{{{"members", "weight"}, Param(tensor({2.0, 20.0}))}}));
}

TEST(MemberObservers, MembersArePerturbedOneByOne) {
  Net net;
  const State added{{{"members", "hidden"}, Perturbation(tensor({1.0, 2.0}, {2, 1}))}};
  const auto run = [](Net& m) { return m(tensor({1.0})); };
  const auto [y, values] = capture(net, run, {.filter = of_type<Perturbation>, .perturbations = added});
  EXPECT_TRUE(identical(y, tensor({4.0, 7.0}, {2, 1})));
  EXPECT_EQ(values, added);
  const State wrong{{{"members", "hidden"}, Perturbation(tensor({1.0}))}};
  EXPECT_THAT([&] { (void)capture(net, run, {.perturbations = wrong}); },
              ThrowsMessage<ShapeError>(HasSubstr("takes 2 members along its leading axis")));
}

TEST(MemberObservers, GradientsOfWhatMembersPerturbAreStackedAndSummedOverCalls) {
  Net net;
  const auto loss = [](Net& m) {
    const Tensor y = m(tensor({1.0})) + m(tensor({2.0}));
    return sum(y * tensor({1.0, 10.0}, {2, 1}));
  };
  EXPECT_EQ(grad(loss, nothing, {.perturbations = everything})(net),
            (State{{{"members", "hidden"}, Perturbation(tensor({2.0, 20.0}, {2, 1}))}}));
}

TEST(MemberObservers, GradientsOfWhatRepeatedLayersPerturbAreStacked) {
  Deep net;
  const auto loss = [](Deep& m) { return sum(m(tensor({1.0}))); };
  EXPECT_EQ(grad(loss, of_type<Param>, {.perturbations = everything})(net),
            (State{{{"blocks", "hidden"}, Perturbation(tensor({5.0, 1.0}, {2, 1}))},
                   {{"blocks", "weight"}, Param(tensor({5.0, 3.0}))}}));
}

TEST(MemberObservers, ALossOfEachMemberHasItsOwnPerturbations) {
  Net net;
  const auto step = grad([](const Layer& m, const Tensor& x) { return sum(m(x) * m.weight.value()); }, nothing,
                         {.perturbations = everything});
  EXPECT_EQ(net.members.map(step, tensor({1.0})), (State{{{"hidden"}, Perturbation(tensor({3.0, 5.0}, {2, 1}))}}));
}

TEST(MemberObservers, DoNotDependOnTheNumberOfThreads) {
  const int before = num_threads();
  std::vector<State> found;
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    Net net;
    found.push_back(capture(net, [](Net& m) { return m(tensor({1.0, 2.0})); }).state);
  }
  set_num_threads(before);
  EXPECT_EQ(found[0], found[1]);
}

}  // namespace
}  // namespace strata::nn
