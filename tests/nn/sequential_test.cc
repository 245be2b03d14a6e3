// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/sequential.h"

#include <gtest/gtest.h>

#include "strata/nn/batch_norm.h"
#include "strata/nn/linear.h"
#include "strata/nn/mode.h"
#include "strata/nn/split.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"

namespace strata::nn {
namespace {

std::vector<std::string> paths_of(const State& state) {
  std::vector<std::string> paths;
  for (const auto& [path, variable] : state) paths.push_back(to_string(path));
  return paths;
}

TEST(Sequential, CallsItsLayersInOrder) {
  Sequential layers{[](const Tensor& x) { return x + 1; }, [](const Tensor& x) { return x * 2; }};
  EXPECT_TRUE(identical(layers(tensor<float>({1, 2})), tensor<float>({4, 6})));
}

TEST(Sequential, FunctionsKeepTheirPosition) {
  Rngs rngs(0);
  const Sequential layers{Linear(4, 8, rngs), relu, Linear(8, 2, rngs)};
  EXPECT_EQ(paths_of(state(layers)),
            (std::vector<std::string>{"layers/0/bias", "layers/0/kernel", "layers/2/bias", "layers/2/kernel"}));
}

TEST(Sequential, LayersInBracesDrawInTheirOrder) {
  Rngs rngs(0);
  const Sequential layers{Linear(4, 8, rngs), Linear(4, 8, rngs)};
  Rngs again(0);
  const Linear first(4, 8, again);
  EXPECT_TRUE(identical(std::get<0>(layers.layers).kernel, first.kernel));
}

TEST(Sequential, TuplesBecomeSeveralArguments) {
  Sequential layers{[](const Tensor& x) { return std::tuple(x, x + 1); },
                    [](const Tensor& a, const Tensor& b) { return a * b; }};
  EXPECT_TRUE(identical(layers(tensor<float>({2, 3})), tensor<float>({6, 12})));
}

TEST(Sequential, EmptyReturnsItsArguments) {
  Sequential<> layers;
  EXPECT_TRUE(identical(layers(ones({2})), ones({2})));
  const std::tuple<Tensor, int> both = layers(ones({2}), 3);
  EXPECT_EQ(std::get<1>(both), 3);
}

TEST(Sequential, ConstOnesCallConstLayers) {
  Rngs rngs(0);
  const Sequential layers{Linear(4, 8, rngs), relu};
  EXPECT_EQ(layers(zeros({3, 4})).shape(), (Shape{3, 8}));
}

TEST(Sequential, LayersThatChangeAreChangedInPlace) {
  Rngs rngs(0);
  Sequential layers{BatchNorm(1, rngs, {.momentum = 0})};
  (void)layers(tensor<float>({1, 3}, {2, 1}));
  EXPECT_TRUE(identical(std::get<0>(layers.layers).mean, tensor<float>({2})));
}

TEST(Sequential, ModesReachItsLayers) {
  Rngs rngs(0);
  Sequential layers{BatchNorm(1, rngs)};
  eval(layers);
  EXPECT_TRUE(std::get<0>(layers.layers).use_running_average);
}

TEST(Sequential, SplitsAndMerges) {
  Rngs rngs(0);
  Sequential layers{Linear(4, 8, rngs), relu, Linear(8, 2, rngs)};
  auto [graph, params] = split(layers, of_type<Param>);
  auto same = merge(graph, params);
  const Tensor x = ones({4});
  EXPECT_TRUE(identical(same(x), layers(x)));
}

}  // namespace
}  // namespace strata::nn
