// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/repeat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "strata/nn/batch_norm.h"
#include "strata/nn/ensemble.h"
#include "strata/nn/linear.h"
#include "strata/nn/split.h"
#include "strata/nn/stack_states.h"
#include "strata/nn/value_and_grad.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/linear_algebra.h"
#include "strata/tensor/reduce.h"

namespace strata::nn {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Block {
  Linear linear;
  BatchNorm norm;

  explicit Block(Rngs& rngs) : linear{3, 3, rngs}, norm{3, rngs} {}
  Tensor operator()(const Tensor& x) { return tanh(norm(linear(x))); }
  STRATA_FIELDS(linear, norm)
};

std::vector<Block> separate_blocks(Index count) {
  Rngs rngs(0);
  std::vector<Block> blocks;
  for (Rngs& of_layer : rngs.split(count)) blocks.emplace_back(of_layer);
  return blocks;
}

State stacked_state(const std::vector<Block>& blocks) {
  std::vector<State> states;
  for (const Block& block : blocks) states.push_back(state(block));
  return stack_states(states);
}

Tensor inputs() { return arange(12).astype(DType::float32).reshape({4, 3}); }

TEST(Repeat, EqualsSeparateLayersBitForBit) {
  Rngs rngs(0);
  Repeat<Block> repeat(4, rngs);
  std::vector<Block> blocks = separate_blocks(4);
  EXPECT_EQ(state(repeat), stacked_state(blocks));
  Tensor x = inputs();
  for (Block& block : blocks) x = block(x);
  EXPECT_TRUE(identical(repeat(inputs()), x));
  EXPECT_EQ(state(repeat), stacked_state(blocks));  // running statistics
}

TEST(Repeat, GradientsAreThoseOfSeparateLayers) {
  struct Chain {
    std::vector<Block> blocks;
    STRATA_FIELDS(blocks)
  };
  Rngs rngs(0);
  Repeat<Block> repeat(4, rngs);
  Chain chain{separate_blocks(4)};
  const auto loss_of_chain = [](Chain& m) {
    Tensor x = inputs();
    for (Block& block : m.blocks) x = block(x);
    return sum(x * x * x);
  };
  const auto loss_of_repeat = [](Repeat<Block>& m) {
    const Tensor x = m(inputs());
    return sum(x * x * x);
  };
  const State of_chain = grad(loss_of_chain, of_type<Param>)(chain);
  const State of_repeat = grad(loss_of_repeat, of_type<Param>)(repeat);
  EXPECT_EQ(of_repeat.size(), 4);
  for (const auto& [path, variable] : of_repeat) {
    for (Index i = 0; i < 4; ++i) {
      EXPECT_TRUE(identical(variable.value()[i], of_chain.at(Path{"blocks", i} / path))) << path << " " << i;
    }
  }
}

TEST(Repeat, CarriesAnythingAndMapsArguments) {
  Rngs rngs(0);
  Repeat<Block> repeat(3, rngs);
  const auto [number, total] =
      repeat.fold([](Block&, std::pair<int, Tensor> carry,
                     const Tensor& term) { return std::pair(carry.first + 1, carry.second + term); },
                  std::pair(0, scalar(0.0)), mapped(tensor({1.0, 10.0, 100.0})));
  EXPECT_EQ(number, 3);
  EXPECT_EQ(total.item<double>(), 111);
}

TEST(Repeat, LayersReadWhatTheyShare) {
  Rngs rngs(0);
  Linear linear(3, 3, rngs);
  Repeat<Linear> repeat(std::vector<Linear>{linear, linear, linear}, {{path_contains("kernel"), shared}, {rest, 0}});
  EXPECT_TRUE(identical(repeat(inputs()), linear(linear(linear(inputs())))));
  const auto step = value_and_grad([](Repeat<Linear>& m) { return sum(m(inputs())); }, of_type<Param>);
  EXPECT_EQ(step(repeat).grads.at({"kernel"}).value().shape(), (Shape{3, 3}));
}

TEST(Repeat, WritingWhatLayersShareIsAnErrorThatChangesNothing) {
  Rngs rngs(0);
  Repeat<Block> repeat(2, rngs, {{of_type<BatchStat>, shared}, {rest, 0}});
  const State before = state(repeat);
  EXPECT_THAT([&] { (void)repeat(inputs()); }, ThrowsMessage<StateError>(HasSubstr("norm/mean")));
  EXPECT_EQ(state(repeat), before);
}

TEST(Repeat, MappedArgumentsHaveAnEntryForEachLayer) {
  Rngs rngs(0);
  Repeat<Block> repeat(2, rngs);
  EXPECT_THROW((void)repeat.fold([](Block&, Tensor x, const Tensor&) { return x; }, inputs(), mapped(ones({3}))),
               ShapeError);
}

TEST(Repeat, IsSplitAndMerged) {
  Rngs rngs(0);
  Repeat<Block> repeat(2, rngs);
  const auto [graph, all] = split(repeat);
  Repeat<Block> merged = merge(graph, all);
  EXPECT_TRUE(identical(merged(inputs()), repeat(inputs())));
}

TEST(Repeat, StandsInAnEnsemble) {
  Rngs rngs(0);
  Ensemble ensemble(3, rngs, [](Rngs& r) { return Repeat<Block>(2, r); });
  EXPECT_EQ(state(ensemble).at({"linear", "kernel"}).value().shape(), (Shape{3, 2, 3, 3}));
  std::vector<Repeat<Block>> members;
  for (Index i = 0; i < 3; ++i) members.push_back(ensemble.member(i));
  const Tensor y = ensemble(inputs());
  for (Index i = 0; i < 3; ++i) EXPECT_TRUE(identical(y[i], members[static_cast<std::size_t>(i)](inputs())));
}

}  // namespace
}  // namespace strata::nn
