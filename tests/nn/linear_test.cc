// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/linear.h"

#include <gtest/gtest.h>

#include "strata/nn/split.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "support/gradient_check.h"
#include "support/sanitizer.h"

namespace strata::nn {
namespace {

using support::expect_gradients_match;

// A layer with parameters that are easy to calculate with.
Linear two_by_three(DType dtype = DType::float32) {
  Rngs rngs(0);
  Linear layer(2, 3, rngs, {.param_dtype = dtype});
  layer.kernel.set_value(tensor<double>({1, 2, 3, 4, 5, 6}, {2, 3}).astype(dtype));
  layer.bias->set_value(tensor<double>({10, 20, 30}).astype(dtype));
  return layer;
}

TEST(Linear, MultipliesByTheKernelAndAddsTheBias) {
  EXPECT_TRUE(
      identical(two_by_three()(tensor<float>({1, 0, 1, -1}, {2, 2})), tensor<float>({11, 22, 33, 7, 17, 27}, {2, 3})));
}

TEST(Linear, TakesAnyNumberOfBatchAxes) {
  EXPECT_EQ(two_by_three()(zeros({2})).shape(), (Shape{3}));
  EXPECT_EQ(two_by_three()(zeros({4, 0, 2})).shape(), (Shape{4, 0, 3}));
}

// jax: nnx.Linear(5, 7, rngs=nnx.Rngs(0)), golden/random/random.json, "init/Linear(5, 7)".
TEST(Linear, StartsWithTheKernelOfTheFirstKeyAndABiasOfZeros) {
  Rngs rngs(0);
  const Linear layer(5, 7, rngs);
  const Tensor kernel = initializers::lecun_normal()(RandomKey{1797259609, 2579123966}, {5, 7});
  EXPECT_TRUE(identical(layer.kernel, kernel));
  EXPECT_TRUE(identical(*layer.bias, zeros({7})));
}

TEST(Linear, DrawsOneKeyForEachParameterThatItHas) {
  Rngs rngs(0);
  const Linear with_bias(2, 3, rngs);
  EXPECT_EQ(rngs.stream("params").count.value().item<int>(), 2);
  const Linear without_bias(2, 3, rngs, {.use_bias = false});
  EXPECT_EQ(rngs.stream("params").count.value().item<int>(), 3);
  EXPECT_FALSE(without_bias.bias.has_value());
}

TEST(Linear, PrefersTheStreamParams) {
  Rngs rngs(0, {{"params", 1}});
  const Linear layer(2, 3, rngs);
  EXPECT_EQ(rngs.stream("default").count.value().item<int>(), 0);
  EXPECT_EQ(rngs.stream("params").count.value().item<int>(), 2);
}

TEST(Linear, ItsLeavesAreKernelAndBias) {
  const State leaves = state(two_by_three());
  ASSERT_EQ(leaves.size(), 2);
  EXPECT_EQ(describe(leaves.at({"bias"})), "Param float32[3]");
  EXPECT_EQ(describe(leaves.at({"kernel"})), "Param float32[2, 3]");
}

TEST(Linear, IntegersCountAsNumbersOfTheParametersType) {
  const Tensor y = two_by_three()(tensor<std::int64_t>({1, 2}));
  EXPECT_TRUE(identical(y, tensor<float>({19, 32, 45})));
}

TEST(Linear, ComputesInThePromotedType) {
  EXPECT_EQ(two_by_three()(zeros({2}, DType::float64)).dtype(), DType::float64);
  EXPECT_EQ(two_by_three()(zeros({2}, DType::float16)).dtype(), DType::float32);
}

TEST(Linear, ComputesInTheTypeThatWasAskedFor) {
  Rngs rngs(0);
  const Linear layer(2, 3, rngs, {.dtype = DType::bfloat16});
  EXPECT_EQ(layer(zeros({2})).dtype(), DType::bfloat16);
  EXPECT_EQ(layer.kernel.value().dtype(), DType::float32);
}

TEST(Linear, GradientsMatchCentralDifferences) {
  expect_gradients_match(
      [](const Tensor& x, const Tensor& kernel, const Tensor& bias) {
        Linear layer = two_by_three(DType::float64);
        layer.kernel.set_value(kernel);
        layer.bias->set_value(bias);
        return layer(x);
      },
      tensor({0.5, -1.0, 2.0, 0.25}, {2, 2}), tensor({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {2, 3}), tensor({1.0, 0.0, -1.0}));
}

TEST(Linear, RefusesInputsOfAnotherWidth) {
  EXPECT_THROW((void)two_by_three()(zeros({4, 3})), ShapeError);
  EXPECT_THROW((void)two_by_three()(scalar(1.0f)), ShapeError);
}

TEST(Linear, RefusesSizesThatThereIsNoMemoryFor) {
  if (!support::memory_can_be_refused) GTEST_SKIP();
  Rngs rngs(0);
  EXPECT_THROW(Linear(Index{1} << 40, Index{1} << 20, rngs), ShapeError);
  EXPECT_THROW(Linear(Index{1} << 40, Index{1} << 40, rngs), ShapeError);
}

TEST(Linear, RefusesSizesThatAreNotPositive) {
  Rngs rngs(0);
  EXPECT_THROW(Linear(0, 3, rngs), ShapeError);
  EXPECT_THROW(Linear(2, -1, rngs), ShapeError);
  EXPECT_EQ(rngs.stream("params").count.value().item<int>(), 0);
}

}  // namespace
}  // namespace strata::nn
