// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/conv.h"

#include <gtest/gtest.h>

#include "strata/nn/split.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/random.h"
#include "support/gradient_check.h"
#include "support/message_of.h"

namespace strata::nn {
namespace {

using support::expect_gradients_match;
using support::message_of;

// A layer of two taps with parameters that are easy to calculate with.
Conv two_taps() {
  Rngs rngs(0);
  Conv layer(1, 2, {2}, rngs, {.window = {.padding = PaddingMode::valid}});
  layer.kernel.set_value(tensor({1.0f, 10.0f, 2.0f, 20.0f}, {2, 1, 2}));
  layer.bias->set_value(tensor({0.5f, -0.5f}));
  return layer;
}

TEST(Conv, AddsTheBiasToTheConvolution) {
  EXPECT_TRUE(identical(two_taps()(tensor({1.0f, 2.0f, 3.0f}, {3, 1})), tensor({5.5f, 49.5f, 8.5f, 79.5f}, {2, 2})));
}

TEST(Conv, HasTheShapesOfFlax) {
  Rngs rngs(0);
  const Conv layer(4, 6, {3, 2}, rngs, {.window = {.feature_groups = 2}});
  EXPECT_EQ(layer.kernel.value().shape(), (Shape{3, 2, 2, 6}));
  EXPECT_EQ(layer.bias->value().shape(), (Shape{6}));
  EXPECT_EQ(layer(zeros({5, 8, 9, 4})).shape(), (Shape{5, 8, 9, 6}));
}

TEST(Conv, StartsWithTheKernelOfTheFirstKeyAndABiasOfZeros) {
  Rngs rngs(0);
  const Conv layer(2, 3, {3}, rngs);
  Rngs same(0);
  EXPECT_TRUE(identical(layer.kernel, initializers::lecun_normal()(same.draw("params"), {3, 2, 3})));
  EXPECT_TRUE(identical(*layer.bias, zeros({3})));
  EXPECT_EQ(rngs.stream("params").count.value().item<int>(), 2);
}

TEST(Conv, LeavesOutTheBias) {
  Rngs rngs(0);
  const Conv layer(2, 3, {3}, rngs, {.use_bias = false});
  EXPECT_FALSE(layer.bias.has_value());
  EXPECT_EQ(rngs.stream("params").count.value().item<int>(), 1);
}

TEST(Conv, ComputesInTheGivenType) {
  Rngs rngs(0);
  EXPECT_EQ(Conv(2, 3, {3}, rngs, {.dtype = DType::bfloat16})(zeros({4, 2})).dtype(), DType::bfloat16);
  EXPECT_EQ(Conv(2, 3, {3}, rngs)(zeros({4, 2}, DType::int32)).dtype(), DType::float32);
  EXPECT_EQ(Conv(2, 3, {3}, rngs, {.param_dtype = DType::float16}).kernel.value().dtype(), DType::float16);
}

TEST(Conv, HasGradientsOfItsParametersAndInput) {
  Rngs rngs(0);
  const Conv layer(2, 3, {3, 2}, rngs, {.window = {.strides = {2}}, .param_dtype = DType::float64});
  const auto call = [&](const Tensor& kernel, const Tensor& bias, const Tensor& x) {
    Conv copy = layer;
    copy.kernel.reset(kernel);
    copy.bias->reset(bias);
    return copy(x);
  };
  expect_gradients_match(call, layer.kernel.value(), layer.bias->value(),
                         random::normal(random::key(1), {2, 5, 4, 2}, DType::float64));
}

TEST(Conv, SaysWhatIsWrongBeforeItDraws) {
  Rngs rngs(0);
  EXPECT_EQ(message_of([&] { Conv(0, 3, {3}, rngs); }), "[Conv] in_features is 0. Give a positive size.");
  EXPECT_EQ(message_of([&] {
              Conv(2, 3, {3, 0}, rngs);
            }),
            "[Conv] a number of kernel_size is 0. Give a positive size.");
  EXPECT_EQ(message_of([&] { Conv(2, 3, {}, rngs); }),
            "[Conv] kernel_size is []; give a number for each of 1 to 3 spatial axes.");
  EXPECT_EQ(message_of([&] { Conv(3, 4, {3}, rngs, {.window = {.feature_groups = 2}}); }),
            "[Conv] 3 inputs and 4 outputs do not fall into 2 groups of equal size.");
  EXPECT_THROW(Conv(2, 3, {3, 3}, rngs, {.window = {.padding = PaddingMode::causal}}), ValueError);
  EXPECT_EQ(rngs.stream("params").count.value().item<int>(), 0);
}

}  // namespace
}  // namespace strata::nn
