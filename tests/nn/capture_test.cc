// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "strata/filters/path_patterns.h"
#include "strata/filters/split.h"
#include "strata/nn/activations.h"
#include "strata/nn/linear.h"
#include "strata/nn/sequential.h"
#include "strata/nn/value_and_grad.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/reduce.h"

namespace strata::nn {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Saved : Intermediate {
  STRATA_KIND(Saved, Intermediate)
};

// y = 3 (2 x)
struct Layer {
  Tensor operator()(const Tensor& x) const {
    const Tensor h = perturb(*this, "hidden", x * 2.0);
    sow(*this, "double", h);
    sow(*this, "total", h, [](const Tensor& so_far, const Tensor& next) { return so_far + next; });
    sow<Saved>(
        *this, "count", h, [](const Tensor& so_far, const Tensor&) { return so_far + 1; }, scalar<std::int64_t>(0));
    return h * weight.value();
  }

  Param weight{tensor({3.0})};
  STRATA_FIELDS(weight)
};

struct Net {
  Tensor operator()(const Tensor& x) const { return layers[1](layers[0](layers[0](x))); }

  std::vector<Layer> layers{Layer{}, Layer{}};
  STRATA_FIELDS(layers)
};

// ---------------------------------------------------------------- sow

TEST(Sow, DoesNothingOutsideOfACapture) {
  const Net net;
  EXPECT_EQ(net(tensor({1.0})).item<double>(), 216);
  EXPECT_EQ(state(net).size(), 2);
}

TEST(Capture, GivesWhatTheRunReturnsAndValuesByThePathsOfTheirLayers) {
  Net net;
  const auto [y, values] = capture(net, [](Net& m) { return m(tensor({1.0})); });
  EXPECT_EQ(y.item<double>(), 216);
  const Filter lists = path_contains("double");
  EXPECT_EQ(filter(values, lists), (State{{{"layers", 0, "double", 0}, Intermediate(tensor({2.0}))},
                                          {{"layers", 0, "double", 1}, Intermediate(tensor({12.0}))},
                                          {{"layers", 1, "double", 0}, Intermediate(tensor({72.0}))}}));
}

TEST(Capture, ReducesValuesOfOneNameWhereAsked) {
  Net net;
  const State values = capture(net, [](Net& m) { (void)m(tensor({1.0})); });
  EXPECT_EQ(values.at({"layers", 0, "total"}), Intermediate(tensor({14.0})));
  EXPECT_EQ(values.at({"layers", 0, "count"}), Saved(scalar<std::int64_t>(2)));
  EXPECT_EQ(values.at({"layers", 1, "count"}), Saved(scalar<std::int64_t>(1)));
}

TEST(Capture, LeavesNothingInTheModule) {
  Net net;
  const State before = state(net);
  (void)capture(net, [](Net& m) { return m(tensor({1.0})); });
  EXPECT_EQ(state(net), before);
}

TEST(Capture, KeepsWhatTheFilterTakes) {
  Net net;
  const State values =
      capture(net, [](Net& m) { (void)m(tensor({1.0})); }, {.filter = of_type<Saved> || path_glob("**/double/1")});
  EXPECT_EQ(values, (State{{{"layers", 0, "count"}, Saved(scalar<std::int64_t>(2))},
                           {{"layers", 0, "double", 1}, Intermediate(tensor({12.0}))},
                           {{"layers", 1, "count"}, Saved(scalar<std::int64_t>(1))}}));
}

TEST(Capture, RunsAConstModule) {
  const Net net;
  EXPECT_EQ(capture(net, [](const Net& m) { return m(tensor({1.0})); }).value.item<double>(), 216);
}

TEST(Capture, EndsWhereTheRunThrows) {
  Net net;
  EXPECT_THROW((void)capture(net, [](Net&) { throw std::runtime_error("stop"); }), std::runtime_error);
  EXPECT_EQ(internal::observers().collector, nullptr);
}

TEST(Capture, TheInnermostOneCollects) {
  Net net;
  Net teacher;
  const State outer = capture(net, [&](Net& m) {
    const State inner = capture(teacher, [](Net& t) { (void)t(tensor({1.0})); });
    EXPECT_EQ(inner.at({"layers", 1, "double", 0}), Intermediate(tensor({72.0})));
    (void)m.layers[0](tensor({5.0}));
  });
  EXPECT_EQ(outer.at({"layers", 0, "double", 0}), Intermediate(tensor({10.0})));
  EXPECT_FALSE(outer.contains({"layers", 1, "double", 0}));
}

TEST(Capture, IsOfItsThread) {
  Net net;
  const State values = capture(net, [](Net& m) { std::thread([&m] { (void)m(tensor({1.0})); }).join(); });
  EXPECT_TRUE(values.empty());
}

TEST(Capture, FilesASharedLayerUnderItsOnePath) {
  struct Twice {
    std::shared_ptr<Layer> second = std::make_shared<Layer>();
    std::shared_ptr<Layer> first = second;
    STRATA_FIELDS(second, first)
  } net;
  const State values = capture(net, [](Twice& m) { (void)(*m.second)((*m.first)(tensor({1.0}))); });
  EXPECT_TRUE(values.contains({"first", "double", 1}));
  EXPECT_FALSE(values.contains({"second", "double", 0}));
}

TEST(Capture, GradientsFlowThroughWhatItCaptures) {
  Net net;
  const auto loss = [](Net& m) {
    const State values = capture(m, [](Net& n) { (void)n(tensor({1.0})); });
    return sum(values.at({"layers", 1, "double", 0}).value());
  };
  // 2 w0 (2 w0 (2 x)) = 8 w0^2
  EXPECT_EQ(grad(loss, of_type<Param>)(net),
            (State{{{"layers", 0, "weight"}, Param(tensor({48.0}))}, {{"layers", 1, "weight"}, Param(tensor({0.0}))}}));
}

TEST(Capture, SeesValuesOfATrainingStep) {
  Net net;
  const auto step = value_and_grad([](Net& m) { return sum(m(tensor({1.0}))); }, of_type<Param>);
  const auto [result, values] = capture(net, [&](Net& m) { return step(m); });
  EXPECT_EQ(values.at({"layers", 1, "double", 0}), Intermediate(tensor({72.0})));
  EXPECT_FALSE(values.at({"layers", 1, "double", 0}).value().is_tracked());
}

// ---------------------------------------------------------------- mistakes

TEST(Capture, RefusesLayersOfOthers) {
  Net net;
  const Layer other;
  EXPECT_THAT([&] { (void)capture(net, [&](Net&) { return other(tensor({1.0})); }); },
              ThrowsMessage<StateError>(HasSubstr("Layer that is not part of the")));
}

TEST(Capture, RefusesACopyOfALayer) {
  Net net;
  EXPECT_THAT(
      [&] {
        (void)capture(net, [](Net& m) {
          const Layer copy = m.layers[0];
          return copy(tensor({1.0}));
        });
      },
      ThrowsMessage<StateError>(HasSubstr("a copy, or one that moved meanwhile")));
}

TEST(Capture, RefusesALayerThatMoved) {
  Net net;
  EXPECT_THROW((void)capture(net,
                             [](Net& m) {
                               (void)m(tensor({1.0}));
                               const std::vector<Layer> moved = std::move(m.layers);
                               m.layers = std::vector<Layer>(100);
                               return m.layers[99](tensor({1.0}));
                             }),
               StateError);
}

TEST(Capture, RefusesTheNameOfAField) {
  struct Clash {
    Tensor operator()(const Tensor& x) const {
      sow(*this, "weight", x);
      return x;
    }
    Param weight;
    STRATA_FIELDS(weight)
  };
  Sequential net{Clash{}};
  EXPECT_THAT([&] { (void)capture(net, [](auto& m) { return m(tensor({1.0})); }); },
              ThrowsMessage<StateError>(HasSubstr("layers/0/weight is there already")));
}

TEST(Capture, RefusesANameThatIsUsedInTwoWays) {
  Layer layer;
  const auto run = [&](auto&& second) {
    return [&layer, second] {
      (void)capture(layer, [&](Layer& m) {
        sow(m, "h", tensor({1.0}));
        second(m);
      });
    };
  };
  const auto newest = [](const Tensor&, const Tensor& next) { return next; };
  EXPECT_THAT(run([](Layer& m) { sow<Saved>(m, "h", tensor({1.0})); }),
              ThrowsMessage<StateError>(
                  HasSubstr("h is handed out in two ways: as a list of Intermediate and as a list of Saved")));
  EXPECT_THAT(run([&](Layer& m) { sow(m, "h", tensor({1.0}), newest); }),
              ThrowsMessage<StateError>(HasSubstr("as a list of Intermediate and as one Intermediate")));
  EXPECT_THAT(run([](Layer& m) { (void)perturb(m, "h", tensor({1.0})); }),
              ThrowsMessage<StateError>(HasSubstr("and as a perturbation")));
}

// ---------------------------------------------------------------- results of calls

TEST(Capture, KeepsResultsOfModulesCalledByCall) {
  Rngs rngs(0);
  Sequential net{Linear{4, 8, rngs}, relu, Linear{8, 2, rngs}};
  const auto [y, values] = capture(net, [](auto& m) { return call(m, ones({3, 4})); }, {.outputs_of = everything});
  ASSERT_EQ(values.size(), 3);
  EXPECT_EQ(values.at({"__call__", 0}), Intermediate(y));
  EXPECT_EQ(values.at({"layers", 0, "__call__", 0}).value().shape(), (Shape{3, 8}));
  EXPECT_EQ(values.at({"layers", 2, "__call__", 0}), Intermediate(y));
}

TEST(Capture, KeepsResultsOfModulesThatTheFilterTakes) {
  Rngs rngs(0);
  Sequential net{Linear{4, 4, rngs}, Layer{}, Linear{4, 4, rngs}};
  const auto run = [](auto& m) { (void)call(m, ones({3, 4}, DType::float64)); };
  const State values = capture(net, run, {.filter = path_like("call"), .outputs_of = of_module<Linear>});
  ASSERT_EQ(values.size(), 2);
  EXPECT_TRUE(values.contains({"layers", 0, "__call__", 0}));
  EXPECT_TRUE(values.contains({"layers", 2, "__call__", 0}));
}

TEST(Capture, NumbersTheTensorsOfATuple) {
  struct TwoHeads {
    std::tuple<Tensor, Tensor> operator()(const Tensor& x) const { return {x, x * 2.0}; }
    int width = 1;
    STRATA_FIELDS(width)
  } heads;
  const auto run = [](TwoHeads& m) {
    (void)call(m, tensor({1.0}));
    (void)call(m, tensor({2.0}));
  };
  EXPECT_EQ(capture(heads, run, {.outputs_of = everything}),
            (State{{{"__call__", 0, 0}, Intermediate(tensor({1.0}))},
                   {{"__call__", 0, 1}, Intermediate(tensor({2.0}))},
                   {{"__call__", 1, 0}, Intermediate(tensor({2.0}))},
                   {{"__call__", 1, 1}, Intermediate(tensor({4.0}))}}));
}

TEST(Capture, PassesOverResultsOfModulesOfOthers) {
  Rngs rngs(0);
  Linear layer{4, 4, rngs};
  Linear other{4, 4, rngs};
  const auto run = [&](Linear&) { (void)call(other, ones({1, 4})); };
  EXPECT_TRUE(capture(layer, run, {.outputs_of = everything}).empty());
}

// ---------------------------------------------------------------- perturb

TEST(Perturb, IsTheIdentityOutside) {
  const Layer layer;
  const Tensor x = tensor({-0.0});
  EXPECT_TRUE(perturb(layer, "hidden", x).shares_elements_with(x));
}

TEST(Perturb, CaptureGivesZeros) {
  Net net;
  const auto [y, values] = capture(net, [](Net& m) { return m(tensor({1.0})); }, {.filter = of_type<Perturbation>});
  EXPECT_EQ(y.item<double>(), 216);
  EXPECT_EQ(values, (State{{{"layers", 0, "hidden"}, Perturbation(tensor({0.0}))},
                           {{"layers", 1, "hidden"}, Perturbation(tensor({0.0}))}}));
}

TEST(Perturb, CaptureAddsWhatItIsGiven) {
  Net net;
  const State added{{{"layers", 1, "hidden"}, Perturbation(tensor({1.0}))}};
  const auto run = [](Net& m) { return m(tensor({1.0})); };
  EXPECT_EQ(capture(net, run, {.perturbations = added}).value.item<double>(), 219);
}

TEST(Perturb, RefusesPerturbationsThatNothingAsksFor) {
  Net net;
  const auto run = [](Net& m) { return m(tensor({1.0})); };
  const State added{{{"layers", 1, "hiden"}, Perturbation(tensor({1.0}))}};
  EXPECT_THAT([&] { (void)capture(net, run, {.perturbations = added}); },
              ThrowsMessage<StateError>(HasSubstr("nothing in the run asks for: layers/1/hiden")));
}

TEST(Perturb, RefusesPerturbationsOfAnotherShape) {
  Net net;
  const auto run = [](Net& m) { return m(tensor({1.0})); };
  const State added{{{"layers", 1, "hidden"}, Perturbation(tensor({1.0, 2.0}))}};
  EXPECT_THAT([&] { (void)capture(net, run, {.perturbations = added}); },
              ThrowsMessage<ShapeError>(HasSubstr("layers/1/hidden is float64[1] and its perturbation float64[2]")));
}

TEST(Perturb, GradientsAreThoseOfTheIntermediateValuesSummedOverCalls) {
  Net net;
  const auto loss = [](Net& m) { return sum(m(tensor({1.0}))); };
  const auto [value, grads] = value_and_grad(loss, nothing, {.perturbations = everything})(net);
  EXPECT_EQ(value.item<double>(), 216);
  // By the second value of layer 0: 3 2 3 = 18, by the first: 3 2 18 = 108; by that of layer 1: 3.
  EXPECT_EQ(grads, (State{{{"layers", 0, "hidden"}, Perturbation(tensor({126.0}))},
                          {{"layers", 1, "hidden"}, Perturbation(tensor({3.0}))}}));
}

TEST(Perturb, GradientsStandBesideThoseOfVariables) {
  Net net;
  const auto loss = [](Net& m) { return sum(m(tensor({1.0}))); };
  const State grads = grad(loss, of_type<Param>, {.perturbations = path_contains(1)})(net);
  EXPECT_EQ(grads, (State{{{"layers", 0, "weight"}, Param(tensor({144.0}))},
                          {{"layers", 1, "hidden"}, Perturbation(tensor({3.0}))},
                          {{"layers", 1, "weight"}, Param(tensor({72.0}))}}));
}

TEST(Perturb, TakesNoPartInGradientsWithoutTheOption) {
  Net net;
  Net teacher;
  const auto loss = [&](Net& m) { return sum(m(tensor({1.0})) + teacher(tensor({1.0}))); };
  EXPECT_EQ(grad(loss, everything)(net).size(), 2);
}

TEST(Perturb, RefusesAFilterThatTakesNoPerturbation) {
  Net net;
  const auto loss = [](Net& m) { return sum(m(tensor({1.0}))); };
  const auto step = grad(loss, of_type<Param>, {.perturbations = path_contains("hiden")});
  EXPECT_THAT([&] { (void)step(net); },
              ThrowsMessage<FilterError>(HasSubstr("takes no perturbation. There are: layers/0/hidden")));
  const auto silent =
      grad([](Net& m) { return sum(m.layers[0].weight.value()); }, of_type<Param>, {.perturbations = everything});
  EXPECT_THAT([&] { (void)silent(net); }, ThrowsMessage<FilterError>(HasSubstr("calls no layer that names one")));
}

TEST(Perturb, RefusesIntegersWhereGradientsAreAsked) {
  struct Steps {
    Tensor operator()() const { return perturb(*this, "steps", scalar<std::int32_t>(1)); }
    int width = 1;
    STRATA_FIELDS(width)
  } steps;
  const auto loss = [](Steps& m) { return m().astype(DType::float32); };
  EXPECT_THROW((void)grad(loss, nothing, {.perturbations = everything})(steps), DTypeError);
}

TEST(Perturb, RefusesValuesOfTwoShapes) {
  Layer layer;
  const auto loss = [](Layer& m) {
    const Tensor y = sum(m(tensor({1.0})));
    return y + sum(m(tensor({1.0, 2.0})));
  };
  EXPECT_THAT([&] { (void)grad(loss, nothing, {.perturbations = everything})(layer); },
              ThrowsMessage<ShapeError>(HasSubstr("hidden was float64[1] and is float64[2]")));
  EXPECT_THROW((void)capture(layer, loss), ShapeError);
}

TEST(Perturb, IsCapturedWithinALossAndDifferentiated) {
  Net net;
  const auto loss = [](Net& m) {
    auto [y, values] = capture(m, [](Net& n) { return n(tensor({1.0})); });
    return std::pair(sum(y), values);
  };
  const auto [value, grads] = value_and_grad(loss, nothing, {.perturbations = path_contains(1)})(net);
  EXPECT_EQ(grads.at({"layers", 1, "hidden"}), Perturbation(tensor({3.0})));
  EXPECT_EQ(value.second.at({"layers", 1, "hidden"}), Perturbation(tensor({0.0})));
}

}  // namespace
}  // namespace strata::nn
