// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/linear_algebra.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "support/compare.h"
#include "support/gradient_check.h"
#include "support/message_of.h"

// Expected values were computed with NumPy 2.
namespace strata {
namespace {

using support::difference;
using support::exactly;
using support::expect_gradients_match;
using support::message_of;

Tensor counting(const Shape& shape, DType dtype = DType::float32) {
  return arange(shape.num_elements()).reshape(shape).astype(dtype);
}

// Numbers without a pattern.
Tensor waves(const Shape& shape) {
  Tensor x = counting(shape, DType::float64);
  for (double& element : x.mutable_data<double>()) element = std::sin(element * element + 1.0);
  return x;
}

TEST(Matmul, OfMatrices) {
  EXPECT_EQ(difference(matmul(counting({2, 3}), counting({3, 2})), tensor({10, 13, 28, 40}, {2, 2}), exactly), "");
}

TEST(Matmul, OfEveryElementType) {
  for (const DType dtype :
       {DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16, DType::uint32,
        DType::uint64, DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    const Tensor y = matmul(counting({2, 3}, dtype), counting({3, 2}, dtype));
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(difference(y, tensor({10, 13, 28, 40}, {2, 2}), exactly), "") << dtype;
  }
}

TEST(Matmul, OfBoolIsWhetherAnyPairIsTrue) {
  const Tensor a = tensor({true, false, false, false}, {2, 2});
  EXPECT_TRUE(
      identical(matmul(a, tensor({true, false, true, true}, {2, 2})), tensor({true, false, false, false}, {2, 2})));
}

TEST(Matmul, PromotesElementTypes) {
  EXPECT_EQ(matmul(counting({1, 2}, DType::int32), counting({2, 1}, DType::float32)).dtype(), DType::float64);
  EXPECT_EQ(matmul(counting({1, 2}, DType::float16), counting({2, 1}, DType::float32)).dtype(), DType::float32);
  EXPECT_EQ(matmul(counting({1, 2}, DType::float16), counting({2, 1}, DType::bfloat16)).dtype(), DType::float32);
}

TEST(Matmul, WrapsIntegersAround) {
  EXPECT_EQ(matmul(full({1, 2}, 100, DType::int8), full({2, 1}, 100, DType::int8)).item<int>(), 32);
  EXPECT_EQ(matmul(full({1, 2}, 60000, DType::uint16), full({2, 1}, 60000, DType::uint16)).item<int>(), 18432);
}

TEST(Matmul, RoundsTwoByteFloatsOnce) {
  // One by one in float16, the sum would stay at 2048.
  EXPECT_EQ(matmul(ones({1, 4098}, DType::float16), ones({4098, 1}, DType::float16)).item<float>(), 4096.0f);
}

TEST(Matmul, OfAMatrixAndAVector) {
  EXPECT_EQ(difference(matmul(counting({2, 3}), tensor({1.0f, 2.0f, 3.0f})), tensor({8, 26}), exactly), "");
  EXPECT_EQ(difference(matmul(tensor({1.0f, 2.0f}), counting({2, 3})), tensor({6, 9, 12}), exactly), "");
}

TEST(Matmul, OfVectorsIsTheInnerProduct) {
  const Tensor y = matmul(tensor({1, 2, 3}), tensor({4, 5, 6}));
  EXPECT_EQ(y.shape(), Shape{});
  EXPECT_EQ(y.item<int>(), 32);
}

TEST(Matmul, OfABatchAndAMatrix) {
  EXPECT_EQ(difference(matmul(counting({2, 2, 3}), counting({3, 2})),
                       tensor({10, 13, 28, 40, 46, 67, 64, 94}, {2, 2, 2}), exactly),
            "");
  EXPECT_EQ(
      difference(matmul(counting({2, 2, 3}), tensor({1.0f, 2.0f, 3.0f})), tensor({8, 26, 44, 62}, {2, 2}), exactly),
      "");
}

TEST(Matmul, OfAMatrixAndABatch) {
  EXPECT_EQ(difference(matmul(counting({2, 3}), counting({2, 3, 2})),
                       tensor({10, 13, 28, 40, 28, 31, 100, 112}, {2, 2, 2}), exactly),
            "");
  EXPECT_EQ(
      difference(matmul(tensor({1.0f, 2.0f, 3.0f}), counting({2, 3, 2})), tensor({16, 22, 52, 58}, {2, 2}), exactly),
      "");
}

TEST(Matmul, OfTwoBatches) {
  EXPECT_EQ(difference(matmul(counting({2, 2, 3}), counting({2, 3, 2})),
                       tensor({10, 13, 28, 40, 172, 193, 244, 274}, {2, 2, 2}), exactly),
            "");
}

TEST(Matmul, BroadcastsBatchAxes) {
  const Tensor expected = tensor(
      {10, 13, 28, 40, 28, 31, 100, 112, 46, 49, 172, 184, 46, 67, 64, 94, 172, 193, 244, 274, 298, 319, 424, 454},
      {2, 3, 2, 2});
  for (const DType dtype : {DType::int32, DType::float32}) {
    EXPECT_EQ(difference(matmul(counting({2, 1, 2, 3}, dtype), counting({3, 3, 2}, dtype)), expected, exactly), "");
  }
}

TEST(Matmul, GivesTheSameForManyRowsAsForEach) {
  const Tensor x = waves({7, 5, 9});
  const Tensor w = waves({9, 4});
  const Tensor y = matmul(x, w);
  for (Index i = 0; i < 7; ++i) {
    EXPECT_EQ(difference(y[i], matmul(x[i], w), support::within(1e-14)), "");
  }
}

TEST(Matmul, OfNothing) {
  EXPECT_EQ(matmul(zeros({0, 3}), zeros({3, 2})).shape(), (Shape{0, 2}));
  EXPECT_EQ(matmul(zeros({2, 3}), zeros({3, 0})).shape(), (Shape{2, 0}));
  EXPECT_EQ(matmul(zeros({0, 2, 3}), zeros({1, 3, 2})).shape(), (Shape{0, 2, 2}));
  EXPECT_EQ(matmul(zeros({1, 2, 3}), zeros({0, 3, 2})).shape(), (Shape{0, 2, 2}));
}

TEST(Matmul, OverNoInnerEntriesIsZero) {
  for (const DType dtype : {DType::int32, DType::float32, DType::float16}) {
    EXPECT_TRUE(identical(matmul(zeros({2, 0}, dtype), zeros({0, 2}, dtype)), zeros({2, 2}, dtype))) << dtype;
    EXPECT_TRUE(identical(matmul(zeros({3, 2, 0}, dtype), zeros({3, 0, 2}, dtype)), zeros({3, 2, 2}, dtype))) << dtype;
  }
}

TEST(Matmul, RefusesWhatDoesNotFit) {
  EXPECT_EQ(
      message_of([] {
        static_cast<void>(matmul(zeros({2, 3}), zeros({4, 5})));
      }),
      "[matmul] shapes do not fit: float32[2, 3] and float32[4, 5]. The last axis of the first has 3 entries, that "
      "of the second which it meets 4.");
  EXPECT_EQ(
      message_of([] {
        static_cast<void>(matmul(zeros({2, 2, 3}), zeros({3, 3, 2})));
      }),
      "[matmul] batch axes do not broadcast: float32[2, 2, 3] and float32[3, 3, 2]. Sizes of axes before the last "
      "two, aligned at their end, must be equal or 1.");
  EXPECT_EQ(message_of([] { static_cast<void>(matmul(scalar(1.0f), zeros({1}))); }),
            "[matmul] an operand is a scalar: float32[] and float32[1]. Use *.");
}

TEST(Matmul, IsDifferentiableForEveryCombinationOfRanks) {
  const std::vector<std::pair<Shape, Shape>> shapes{{{3}, {3}},
                                                    {{2, 3}, {3}},
                                                    {{3}, {3, 2}},
                                                    {{2, 3}, {3, 4}},
                                                    {{2, 2, 3}, {3, 4}},
                                                    {{2, 2, 3}, {3}},
                                                    {{3}, {2, 3, 4}},
                                                    {{2, 3}, {2, 3, 4}},
                                                    {{2, 2, 3}, {1, 3, 2}},
                                                    {{2, 2, 3}, {2, 3, 2}},
                                                    {{1, 2, 3}, {2, 3, 2}},
                                                    {{2, 1, 2, 3}, {3, 3, 2}},
                                                    {{2, 3, 2, 3}, {2, 1, 3, 2}},
                                                    {{2, 0}, {0, 3}},
                                                    {{0, 3}, {3, 2}},
                                                    {{1, 2, 3}, {0, 3, 2}}};
  for (const auto& [a, b] : shapes) {
    SCOPED_TRACE(to_string(a) + " x " + to_string(b));
    expect_gradients_match([](const Tensor& x, const Tensor& y) { return matmul(x, y); }, waves(a), waves(b));
  }
}

TEST(Matmul, OfATensorWithItselfIsDifferentiable) {
  expect_gradients_match([](const Tensor& x) { return matmul(x, x); }, waves({3, 3}));
}

TEST(Matmul, GivesGradientsInTheElementTypeOfEachOperand) {
  GradientTape tape;
  const Tensor a = tape.watch(ones({2, 3}, DType::float16));
  const Tensor b = tape.watch(ones({3, 2}, DType::float64));
  const Tensor y = matmul(a, b);
  const std::vector<Tensor> gradients = tape.gradient(
      std::vector<Tensor>{y}, std::vector<Tensor>{ones({2, 2}, DType::float64)}, std::vector<Tensor>{a, b});
  EXPECT_TRUE(identical(gradients[0], full({2, 3}, 2, DType::float16)));
  EXPECT_TRUE(identical(gradients[1], full({3, 2}, 2, DType::float64)));
}

TEST(Matmul, WithAConstantKeepsNothingOfTheTrackedOperand) {
  GradientTape tape;
  Tensor b = ones({3, 2});
  const Tensor a = tape.watch(ones({2, 3}));
  const Tensor y = matmul(a, b);
  b.mutable_data<float>()[0] = 100.0f;
  const Tensor gradient =
      tape.gradient(std::vector<Tensor>{y}, std::vector<Tensor>{ones({2, 2})}, std::vector<Tensor>{a})[0];
  EXPECT_TRUE(identical(gradient, full({2, 3}, 2))) << "a later write to an operand was seen";
}

}  // namespace
}  // namespace strata
