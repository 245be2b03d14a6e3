// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/pop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/nn/split.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::nn {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

Tensor number(float value) { return scalar(value); }

struct Holder {
  Param kernel{number(1)};
  std::optional<Cache> cache = Cache(number(2));
  std::vector<Intermediate> values{Intermediate(number(3)), Intermediate(number(4))};
  std::map<std::string, std::shared_ptr<Intermediate>> named{{"h", std::make_shared<Intermediate>(number(5))}};
  std::unique_ptr<Perturbation> delta = std::make_unique<Perturbation>(number(6));
  STRATA_FIELDS(kernel, cache, values, named, delta)
};

TEST(Pop, TakesTheVariablesOutOfTheModule) {
  Holder module;
  const State cache = pop(module, of_type<Cache>);
  EXPECT_EQ(cache, (State{{{"cache"}, Cache(number(2))}}));
  EXPECT_FALSE(module.cache.has_value());
  EXPECT_EQ(state(module).size(), 5);
}

TEST(Pop, EmptiesHoldersAndErasesElements) {
  Holder module;
  const State popped = pop(module, of_type<Intermediate>);
  EXPECT_EQ(popped.size(), 4);
  EXPECT_EQ(popped.at({"values", 1}).value().item<float>(), 4);
  EXPECT_TRUE(module.values.empty());
  EXPECT_TRUE(module.named.empty());
  EXPECT_EQ(module.delta, nullptr);
  EXPECT_EQ(state(module).size(), 2);
}

TEST(Pop, TheFirstFilterThatMatchesTakesTheVariable) {
  Holder module;
  const auto [deltas, values] = pop(module, of_type<Perturbation>, of_type<Intermediate>);
  EXPECT_EQ(deltas.size(), 1);
  EXPECT_EQ(values.size(), 3);
}

TEST(Pop, ElementsBehindAnErasedOneMoveUp) {
  Holder module;
  const State popped = pop(module, path_in({{"values", 0}}));
  EXPECT_EQ(popped.size(), 1);
  ASSERT_EQ(module.values.size(), 1U);
  EXPECT_EQ(module.values[0].value().item<float>(), 4);
}

TEST(Pop, NamesPlainFieldsAndChangesNothing) {
  Holder module;
  const State before = state(module);
  EXPECT_THAT([&] { (void)pop(module, everything); },
              ThrowsMessage<StateError>(AllOf(HasSubstr("kernel (Param float32[])"), Not(HasSubstr("cache")))));
  EXPECT_EQ(state(module), before);
}

struct Tied {
  std::shared_ptr<Param> a = std::make_shared<Param>(number(1));
  std::shared_ptr<Param> b = a;
  std::vector<std::shared_ptr<Param>> list{a, std::make_shared<Param>(number(2))};
  STRATA_FIELDS(a, b, list)
};

TEST(Pop, ASharedVariableLeavesAllItsPlaces) {
  Tied module;
  const State popped = pop(module, path_contains("a"));
  EXPECT_EQ(popped, (State{{{"a"}, Param(number(1))}}));
  EXPECT_EQ(module.a, nullptr);
  EXPECT_EQ(module.b, nullptr);
  EXPECT_EQ(state(module), (State{{{"list", 1}, Param(number(2))}}));
}

TEST(Pop, OfNothingIsAnEmptyState) {
  Holder module;
  EXPECT_TRUE(pop(module, with_tag("none")).empty());
  EXPECT_EQ(state(module).size(), 6);
}

}  // namespace
}  // namespace strata::nn
