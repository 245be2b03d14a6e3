// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/value_and_grad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "strata/nn/batch_norm.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/linear_algebra.h"
#include "strata/tensor/reduce.h"

namespace strata::nn {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Pair {
  Param a{tensor({1.0, 2.0})};
  Param b{tensor({3.0, 4.0})};
  BatchStat stat{tensor({5.0, 6.0})};
  Variable count{scalar<std::int32_t>(0)};
  STRATA_FIELDS(a, b, stat, count)
};

Tensor product(Pair& m) { return sum(m.a.value() * m.b.value() * m.stat.value()); }

template <class M>
bool any_tracked(const M& module) {
  bool tracked = false;
  for (const auto& [path, variable] : state(module)) tracked = tracked || variable.value().is_tracked();
  return tracked;
}

TEST(ValueAndGrad, GivesTheValueAndTheGradientsOfWhatTheFilterTakes) {
  Pair module;
  const auto [value, grads] = value_and_grad(product, of_type<Param>)(module);
  EXPECT_EQ(value.item<double>(), 1 * 3 * 5 + 2 * 4 * 6);
  EXPECT_EQ(grads, (State{{{"a"}, Param(tensor({15.0, 24.0}))}, {{"b"}, Param(tensor({5.0, 12.0}))}}));
}

TEST(ValueAndGrad, TakesAnyFloatingVariable) {
  Pair module;
  const auto [value, grads] = value_and_grad(product, of_type<BatchStat>)(module);
  EXPECT_EQ(grads, (State{{{"stat"}, BatchStat(tensor({3.0, 8.0}))}}));
}

TEST(ValueAndGrad, GradientsKeepMetadata) {
  Pair module;
  module.a.set_metadata("tag", "frozen");
  EXPECT_EQ(*grad(product, path_contains("a"))(module).at({"a"}).tag(), "frozen");
}

TEST(ValueAndGrad, PassesArguments) {
  Pair module;
  const auto step = value_and_grad([](Pair& m, const Tensor& x, double scale) { return sum(m.a.value() * x) * scale; },
                                   path_contains("a"));
  EXPECT_EQ(step(module, tensor({1.0, 10.0}), 2.0).grads.at({"a"}), Param(tensor({2.0, 20.0})));
}

TEST(ValueAndGrad, UnusedVariablesHaveZeros) {
  Pair module;
  const State grads = grad([](Pair& m) { return sum(m.a.value()); }, of_type<Param>)(module);
  EXPECT_EQ(grads.at({"b"}), Param(zeros({2}, DType::float64)));
}

TEST(ValueAndGrad, AConstantLossHasZeros) {
  Pair module;
  const State grads = grad([](Pair&) { return scalar(1.0); }, of_type<Param>)(module);
  EXPECT_EQ(grads.at({"a"}), Param(zeros({2}, DType::float64)));
}

TEST(ValueAndGrad, TiedVariablesSumOverTheirUses) {
  struct Tied {
    std::shared_ptr<Param> first = std::make_shared<Param>(scalar(3.0));
    std::shared_ptr<Param> second = first;
    STRATA_FIELDS(first, second)
  } module;
  const State grads =
      grad([](Tied& m) { return m.first->value() * 2.0 + m.second->value() * 5.0; }, of_type<Param>)(module);
  EXPECT_EQ(grads, (State{{{"first"}, Param(scalar(7.0))}}));
}

TEST(ValueAndGrad, HandsOnWhatElseTheLossReturns) {
  Pair module;
  const auto step = value_and_grad(
      [](Pair& m) {
        const Tensor loss = sum(m.a.value());
        return std::pair(loss, std::vector<Tensor>{loss * 2.0});
      },
      of_type<Param>);
  const auto [value, grads] = step(module);
  EXPECT_EQ(value.first.item<double>(), 3);
  EXPECT_EQ(value.second[0].item<double>(), 6);
  EXPECT_FALSE(value.first.is_tracked());
  EXPECT_FALSE(value.second[0].is_tracked());
}

TEST(ValueAndGrad, LeavesNothingTracked) {
  Pair module;
  const auto [value, grads] = value_and_grad(
      [](Pair& m) {
        m.stat.set_value(m.a.value() * 2.0);
        return product(m);
      },
      of_type<Param>)(module);
  EXPECT_FALSE(any_tracked(module));
  EXPECT_FALSE(value.is_tracked());
  for (const auto& [path, gradient] : grads) EXPECT_FALSE(gradient.value().is_tracked());
}

TEST(ValueAndGrad, WhatTheLossDoesToTheModuleStays) {
  Rngs rngs(0);
  struct Net {
    Linear linear;
    BatchNorm norm;
    Dropout dropout;
    STRATA_FIELDS(linear, norm, dropout)
  } net{Linear(2, 2, rngs), BatchNorm(2, rngs), Dropout(0.5, rngs)};
  const State before = state(net);
  const Tensor x = tensor({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2});
  (void)value_and_grad([](Net& m, const Tensor& in) { return sum(m.dropout(m.norm(m.linear(in)))); }, of_type<Param>)(
      net, x);
  const State after = state(net);
  EXPECT_NE(after.at({"norm", "mean"}), before.at({"norm", "mean"}));
  EXPECT_EQ(after.at({"dropout", "rngs", "count"}).value().item<std::uint32_t>(), 1U);
  EXPECT_EQ(filter(after, of_type<Param>), filter(before, of_type<Param>));
  EXPECT_FALSE(any_tracked(net));
}

TEST(ValueAndGrad, ParametersMayBeUpdatedInPlaceAfterwards) {
  Pair module;
  const double* elements = module.a.value().data<double>().data();
  (void)grad(product, of_type<Param>)(module);
  Tensor value = module.a.value();
  module.a.reset(Tensor());
  EXPECT_EQ(value.mutable_data<double>().data(), elements);
}

TEST(ValueAndGrad, AnExceptionGivesValuesBack) {
  Pair module;
  const State before = state(module);
  const auto step = value_and_grad(
      [](Pair& m) -> Tensor {
        m.stat.set_value(zeros({2}, DType::float64));
        m.a.set_value(m.a.value() * 2.0);
        m.count.set_value(scalar<std::int32_t>(1));
        throw std::runtime_error("no");
      },
      of_type<Param>);
  EXPECT_THROW((void)step(module), std::runtime_error);
  EXPECT_EQ(state(module), before);
  EXPECT_FALSE(any_tracked(module));
}

TEST(ValueAndGrad, ALossThatIsNoScalarGivesValuesBack) {
  Pair module;
  const State before = state(module);
  const auto step = value_and_grad(
      [](Pair& m) {
        m.stat.set_value(zeros({2}, DType::float64));
        return m.a.value() * 2.0;
      },
      of_type<Param>);
  EXPECT_THROW((void)step(module), ShapeError);
  EXPECT_EQ(state(module), before);
}

TEST(ValueAndGrad, WorksAgainAfterAnException) {
  Pair module;
  EXPECT_THROW((void)grad([](Pair&) -> Tensor { throw std::runtime_error("no"); }, of_type<Param>)(module),
               std::runtime_error);
  EXPECT_EQ(grad(product, path_contains("b"))(module).at({"b"}), Param(tensor({5.0, 12.0})));
}

TEST(ValueAndGrad, AFilterThatTakesNothingIsAnError) {
  Pair module;
  EXPECT_THAT([&] { (void)value_and_grad(product, of_type<Cache>)(module); },
              ThrowsMessage<FilterError>(HasSubstr(
                  "`Cache` takes none of the module's 4 variables. It names what no variable has: `Cache`.")));
}

TEST(ValueAndGrad, AnIntegerIsAnError) {
  Pair module;
  EXPECT_THAT([&] { (void)value_and_grad(product, everything)(module); },
              ThrowsMessage<DTypeError>(HasSubstr("count (Variable int32[])")));
  EXPECT_FALSE(any_tracked(module));
}

TEST(ValueAndGrad, WithinItselfIsAnError) {
  Pair module;
  const auto inner = grad(product, of_type<Param>);
  const auto outer = grad(
      [&](Pair& m) {
        (void)inner(m);
        return product(m);
      },
      of_type<Param>);
  const State before = state(module);
  EXPECT_THROW((void)outer(module), GradientError);
  EXPECT_EQ(state(module), before);
}

TEST(ValueAndGrad, WithinItselfOverOtherVariablesIsFine) {
  Pair module;
  const auto inner = grad([](Pair& m) { return sum(m.stat.value() * m.stat.value()); }, of_type<BatchStat>);
  const auto outer = grad(
      [&](Pair& m) {
        const State of_stat = inner(m);
        return sum(m.a.value() * of_stat.at({"stat"}).value());
      },
      path_contains("a"));
  EXPECT_EQ(outer(module).at({"a"}), Param(tensor({10.0, 12.0})));
}

struct Growing {
  std::vector<Param> list{Param(scalar(2.0))};
  std::optional<Param> extra;
  STRATA_FIELDS(list, extra)
};

TEST(ValueAndGrad, TheLossMayChangeTheStructure) {
  Growing module;
  const auto step = value_and_grad(
      [](Growing& m) {
        const Tensor loss = m.list[0].value() * 3.0;
        m.extra = Param(loss);
        for (int i = 0; i < 100; ++i) m.list.push_back(Param(loss));
        return loss;
      },
      of_type<Param>);
  const auto [value, grads] = step(module);
  EXPECT_EQ(grads, (State{{{"list", 0}, Param(scalar(3.0))}}));
  EXPECT_EQ(state(module).size(), 102);
  EXPECT_FALSE(any_tracked(module));
}

TEST(ValueAndGrad, TheLossMayRemoveWhatIsWatched) {
  Growing module;
  const auto [value, grads] = value_and_grad(
      [](Growing& m) {
        const Tensor loss = m.list[0].value() * 3.0;
        m.list.clear();
        return loss;
      },
      of_type<Param>)(module);
  EXPECT_EQ(grads, (State{{{"list", 0}, Param(scalar(3.0))}}));
  EXPECT_EQ(state(module).size(), 0);
}

struct Layer {
  virtual ~Layer() = default;
  Param scale{scalar(2.0)};
  STRATA_FIELDS(scale)
};
struct WideLayer : Layer {
  Param bias{scalar(1.0)};
  STRATA_FIELDS_EXTEND(Layer, bias)
};
struct Holder {
  std::shared_ptr<Layer> layer = std::make_shared<Layer>();
  STRATA_FIELDS(layer)
};

TEST(ValueAndGrad, SurvivesALossThatLeavesAModuleWhichCannotBeSeen) {
  Holder module;
  const auto step = value_and_grad(
      [](Holder& m) {
        const Tensor loss = m.layer->scale.value() * 3.0;
        m.layer = std::make_shared<WideLayer>();
        return loss;
      },
      of_type<Param>);
  EXPECT_EQ(step(module).grads.at({"layer", "scale"}), Param(scalar(3.0)));
}

TEST(ValueAndGrad, TakesASharedPointerToTheModule) {
  auto module = std::make_shared<Pair>();
  const State grads = grad([](std::shared_ptr<Pair>& m) { return product(*m); }, path_contains("b"))(module);
  EXPECT_EQ(grads.at({"b"}), Param(tensor({5.0, 12.0})));
}

}  // namespace
}  // namespace strata::nn
