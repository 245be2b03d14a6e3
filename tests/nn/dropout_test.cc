// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/dropout.h"

#include <gtest/gtest.h>

#include <limits>

#include "strata/nn/mode.h"
#include "strata/nn/split.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/reduce.h"

namespace strata::nn {
namespace {

// flax: Dropout(0.4, rngs=Rngs(dropout=0)), two calls on ones of shape (2, 5); golden/nnx/random.json.
TEST(Dropout, KeepsWhatFlaxKeepsForTheSameSeed) {
  Rngs rngs({{"dropout", 0}});
  Dropout layer(0.4, rngs);
  const Tensor x = ones({2, 5});
  EXPECT_TRUE(identical(not_equal(layer(x), 0),
                        tensor<bool>({true, false, true, false, true, true, true, true, true, true}, {2, 5})));
  EXPECT_TRUE(identical(not_equal(layer(x), 0),
                        tensor<bool>({true, true, true, false, true, false, false, true, true, true}, {2, 5})));
}

TEST(Dropout, DividesWhatItKeepsByTheProbability) {
  Rngs rngs({{"dropout", 0}});
  Dropout layer(0.5, rngs);
  const Tensor y = layer(full({100}, 3));
  EXPECT_TRUE(all(logical_or(equal(y, 0), equal(y, 6))).item<bool>());
  EXPECT_TRUE(any(equal(y, 6)).item<bool>());
}

TEST(Dropout, DropsInfinitiesAndNaN) {
  Rngs rngs({{"dropout", 0}});
  Dropout layer(0.4, rngs);
  EXPECT_EQ(layer(full({2, 5}, std::numeric_limits<double>::infinity())).at<float>({0, 1}), 0);
}

TEST(Dropout, ItsStreamIsTaggedWithTheNameItWasForkedFrom) {
  Rngs with_dropout(0, {{"dropout", 1}});
  EXPECT_EQ(*Dropout(0.5, with_dropout).rngs->key.tag(), "dropout");
  Rngs only_default(0);
  EXPECT_EQ(*Dropout(0.5, only_default).rngs->key.tag(), "default");
  EXPECT_EQ(only_default.stream("default").count.value().item<int>(), 1);
}

TEST(Dropout, ItsLeavesAreKeyAndCount) {
  Rngs rngs(0);
  const State leaves = state(Dropout(0.5, rngs));
  ASSERT_EQ(leaves.size(), 2);
  EXPECT_EQ(describe(leaves.at(Path::parse("rngs/count"))), "RngCount uint32[]");
  EXPECT_EQ(describe(leaves.at(Path::parse("rngs/key"))), "RngKey uint32[2]");
}

TEST(Dropout, EvaluationModeReturnsTheInputAndDrawsNothing) {
  Rngs rngs(0);
  Dropout layer(0.5, rngs);
  eval(layer);
  const Tensor x = ones({3});
  EXPECT_TRUE(layer(x).shares_elements_with(x));
  EXPECT_EQ(layer.rngs->count.value().item<int>(), 0);
}

TEST(Dropout, ArgumentOfTheCallBeatsTheSetting) {
  Rngs rngs(0);
  Dropout layer(0.5, rngs, {.deterministic = true});
  (void)layer(ones({3}));
  EXPECT_EQ(layer.rngs->count.value().item<int>(), 0);
  (void)layer(ones({3}), {.deterministic = false});
  EXPECT_EQ(layer.rngs->count.value().item<int>(), 1);
}

TEST(Dropout, RateZeroReturnsTheInputAndRateOneZeros) {
  EXPECT_TRUE(identical(Dropout(0)(ones({3})), ones({3})));
  EXPECT_TRUE(identical(Dropout(1)(ones({3})), zeros({3})));
}

TEST(Dropout, ElementsAlongBroadcastAxesShareTheirFate) {
  Rngs rngs(0);
  Dropout layer(0.5, rngs, {.broadcast_dims = {-1}});
  const Tensor y = layer(ones({50, 4}));
  EXPECT_TRUE(identical(max(y, -1), min(y, -1)));
  EXPECT_TRUE(any(equal(y, 0)).item<bool>());
}

TEST(Dropout, GradientReachesWhatWasKept) {
  Rngs rngs({{"dropout", 0}});
  Dropout layer(0.5, rngs);
  GradientTape tape;
  const Tensor x = tape.watch(ones({100}));
  const Tensor y = layer(x);
  EXPECT_TRUE(identical(tape.gradient(sum(y), {x})[0], stop_gradient(y)));
}

TEST(Dropout, KeepsTheElementType) {
  Rngs rngs(0);
  EXPECT_EQ(Dropout(0.5, rngs)(ones({3}, DType::bfloat16)).dtype(), DType::bfloat16);
}

TEST(Dropout, WithoutAStreamItCannotDrop) { EXPECT_THROW((void)Dropout(0.5)(ones({3})), StateError); }

TEST(Dropout, RefusesWhatItCannotDropAndDrawsNothing) {
  Rngs rngs(0);
  Dropout layer(0.5, rngs, {.broadcast_dims = {1}});
  EXPECT_THROW((void)layer(ones({3})), ShapeError);
  EXPECT_THROW((void)layer(ones({3, 2}, DType::int32)), DTypeError);
  EXPECT_EQ(layer.rngs->count.value().item<int>(), 0);
}

TEST(Dropout, RefusesRatesThatAreNoProbabilities) {
  EXPECT_THROW(Dropout(-0.1), ValueError);
  EXPECT_THROW(Dropout(1.5), ValueError);
  EXPECT_THROW(Dropout{std::numeric_limits<double>::quiet_NaN()}, ValueError);
}

}  // namespace
}  // namespace strata::nn
