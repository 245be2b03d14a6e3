// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/manipulate.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
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

// 0, 1, 2, ... in row-major order.
Tensor counting(const Shape& shape, DType dtype = DType::int64) {
  return arange(shape.num_elements()).reshape(shape).astype(dtype);
}

Tensor counting64(const Shape& shape) { return counting(shape, DType::float64); }

TEST(Transpose, ReversesTheAxesByDefault) {
  EXPECT_EQ(difference(transpose(counting({2, 3})), tensor({0, 3, 1, 4, 2, 5}, {3, 2}), exactly), "");
}

TEST(Transpose, TakesAxesInTheGivenOrder) {
  const Tensor expected =
      tensor({0, 12, 1, 13, 2, 14, 3, 15, 4, 16, 5, 17, 6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23}, {3, 4, 2});
  EXPECT_EQ(difference(transpose(counting({2, 3, 4}), {1, 2, 0}), expected, exactly), "");
  EXPECT_EQ(difference(transpose(counting({2, 3, 4}), {-2, -1, -3}), expected, exactly), "");
}

TEST(Transpose, KeepsEveryElementType) {
  for (const DType dtype : {DType::boolean, DType::int8, DType::uint16, DType::float16, DType::bfloat16, DType::int32,
                            DType::float32, DType::uint64, DType::float64}) {
    const Tensor y = transpose(counting({2, 3}, dtype));
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(difference(y, tensor({0, 3, 1, 4, 2, 5}, {3, 2}).astype(dtype), exactly), "") << dtype;
  }
}

TEST(Transpose, IsItsOwnInverseForSizesThatAreNotMultiplesOfTheTile) {
  for (const Index rows : {1, 2, 15, 16, 17, 33, 100}) {
    for (const Index columns : {1, 3, 16, 31, 48, 65}) {
      const Tensor x = counting({rows, columns}, DType::float32);
      const Tensor y = transpose(x);
      EXPECT_EQ(y.at<Index>({columns - 1, 0}), columns - 1);
      EXPECT_EQ(y.at<Index>({0, rows - 1}), (rows - 1) * columns);
      EXPECT_TRUE(identical(transpose(y), x)) << rows << " x " << columns;
    }
  }
}

TEST(Transpose, DoesNotCopyWhereOnlyAxesOfSizeOneMove) {
  const Tensor x = counting({1, 4, 1, 3});
  EXPECT_TRUE(transpose(x, {1, 0, 3, 2}).shares_elements_with(x));
  EXPECT_TRUE(transpose(counting({5})).shape() == Shape{5});
}

TEST(Transpose, OfAScalarAndOfNothing) {
  EXPECT_EQ(transpose(scalar(3)).item<int>(), 3);
  EXPECT_EQ(transpose(zeros({0, 3})).shape(), (Shape{3, 0}));
}

TEST(Transpose, RefusesAxesThatAreNotAPermutation) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(message_of([&] {
              static_cast<void>(transpose(x, {0, 0}));
            }),
            "[transpose] axis 0 is named twice: the shape is [2, 3].");
  EXPECT_EQ(message_of([&] { static_cast<void>(transpose(x, {0})); }),
            "[transpose] 1 axes for a tensor of shape [2, 3]. Name every axis once.");
  EXPECT_EQ(message_of([&] {
              static_cast<void>(transpose(x, {0, 2}));
            }),
            "[transpose] there is no axis 2: the shape is [2, 3].");
}

TEST(Transpose, IsDifferentiable) {
  expect_gradients_match([](const Tensor& x) { return transpose(x, {2, 0, 1}); }, counting64({2, 3, 4}));
}

TEST(SwapAxes, ExchangesTwo) {
  const Tensor y = swap_axes(counting({2, 3, 4}), 0, -2);
  EXPECT_EQ(
      difference(
          y, tensor({0, 1, 2, 3, 12, 13, 14, 15, 4, 5, 6, 7, 16, 17, 18, 19, 8, 9, 10, 11, 20, 21, 22, 23}, {3, 2, 4}),
          exactly),
      "");
  EXPECT_THROW(static_cast<void>(swap_axes(scalar(1), 0, 0)), ShapeError);
}

TEST(MoveAxis, KeepsTheOrderOfTheOthers) {
  const Tensor y = move_axis(counting({2, 3, 4}), 0, -1);
  EXPECT_EQ(y.shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(difference(y[0], tensor({0, 12, 1, 13, 2, 14, 3, 15}, {4, 2}), exactly), "");
  EXPECT_EQ(move_axis(counting({2, 3, 4}), 2, 0).shape(), (Shape{4, 2, 3}));
  EXPECT_THROW(static_cast<void>(move_axis(counting({2, 3}), 2, 0)), ShapeError);
}

TEST(ExpandDims, AddsAnAxisWithoutCopying) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(expand_dims(x, 0).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(expand_dims(x, -1).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(expand_dims(scalar(1), 0).shape(), Shape{1});
  EXPECT_TRUE(expand_dims(x, 1).shares_elements_with(x));
  EXPECT_THROW(static_cast<void>(expand_dims(x, 3)), ShapeError);
  EXPECT_THROW(static_cast<void>(expand_dims(x, -4)), ShapeError);
}

TEST(Squeeze, RemovesAxesOfSizeOne) {
  const Tensor x = counting({1, 2, 1, 3});
  EXPECT_EQ(squeeze(x).shape(), (Shape{2, 3}));
  EXPECT_EQ(squeeze(x, -2).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(squeeze(x, {0, 2}).shape(), (Shape{2, 3}));
  EXPECT_EQ(squeeze(counting({1, 1})).shape(), Shape{});
  EXPECT_EQ(message_of([&] { static_cast<void>(squeeze(x, 1)); }),
            "[squeeze] axis 1 of [1, 2, 1, 3] is not of size 1.");
}

TEST(Flatten, MergesARangeOfAxes) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(flatten(x).shape(), Shape{24});
  EXPECT_EQ(flatten(x, 0, 1).shape(), (Shape{6, 4}));
  EXPECT_EQ(flatten(x, 1).shape(), (Shape{2, 12}));
  EXPECT_EQ(flatten(scalar(1)).shape(), Shape{1});
  EXPECT_EQ(flatten(zeros({3, 0, 2}), 0, 1).shape(), (Shape{0, 2}));
  EXPECT_THROW(static_cast<void>(flatten(x, 2, 1)), ShapeError);
}

TEST(BroadcastTo, RepeatsAlongNewAndUnitAxes) {
  EXPECT_EQ(difference(broadcast_to(counting({2, 1}), {2, 2, 3}),
                       tensor({0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}, {2, 2, 3}), exactly),
            "");
  EXPECT_EQ(difference(broadcast_to(scalar(7), {3}), tensor({7, 7, 7}), exactly), "");
  EXPECT_EQ(broadcast_to(counting({1, 3}), {0, 3}).shape(), (Shape{0, 3}));
}

TEST(BroadcastTo, IsTheSameTensorForItsOwnShape) {
  const Tensor x = counting({2, 3});
  EXPECT_TRUE(broadcast_to(x, {2, 3}).shares_elements_with(x));
}

TEST(BroadcastTo, RefusesOtherShapes) {
  EXPECT_EQ(
      message_of([] {
        static_cast<void>(broadcast_to(counting({2, 3}), {2, 4}));
      }),
      "[broadcast_to] [2, 3] cannot become [2, 4]. Sizes aligned at the last axis must be equal or, in the first, 1.");
  EXPECT_THROW(static_cast<void>(broadcast_to(counting({2, 3}), {3})), ShapeError);
  EXPECT_THROW(static_cast<void>(broadcast_to(counting({3}), {1})), ShapeError);
}

TEST(BroadcastTo, IsDifferentiable) {
  expect_gradients_match([](const Tensor& x) { return broadcast_to(x, {3, 2, 4}); }, counting64({2, 1}));
  expect_gradients_match([](const Tensor& x) { return broadcast_to(x, {1, 2, 3}); }, counting64({2, 3}));
  expect_gradients_match([](const Tensor& x) { return broadcast_to(x, {2, 2}); }, counting64({}));
}

TEST(Concatenate, JoinsAlongAnyAxis) {
  const Tensor a = counting({2, 3});
  const Tensor b = tensor({10, 11, 12, 13}, {2, 2});
  EXPECT_EQ(difference(concatenate({a, b}, -1), tensor({0, 1, 2, 10, 11, 3, 4, 5, 12, 13}, {2, 5}), exactly), "");
  EXPECT_EQ(difference(concatenate({b, b}, 0), tensor({10, 11, 12, 13, 10, 11, 12, 13}, {4, 2}), exactly), "");
}

TEST(Concatenate, TakesVectorsOfTensors) {
  const std::vector<Tensor> parts(5, tensor({1, 2}));
  EXPECT_EQ(difference(concatenate(parts, 0), tensor({1, 2, 1, 2, 1, 2, 1, 2, 1, 2}), exactly), "");
}

TEST(Concatenate, PromotesElementTypes) {
  const Tensor y = concatenate({tensor<std::int8_t>({1}), tensor({2.5f}), tensor({true})}, 0);
  EXPECT_EQ(y.dtype(), DType::float32);
  EXPECT_EQ(difference(y, tensor({1.0f, 2.5f, 1.0f}), exactly), "");
}

TEST(Concatenate, AcceptsEmptyTensors) {
  EXPECT_EQ(difference(concatenate({zeros({0, 3}), ones({1, 3}), zeros({0, 3})}, 0), ones({1, 3}), exactly), "");
  EXPECT_EQ(concatenate({zeros({0, 3}), zeros({0, 2})}, 1).shape(), (Shape{0, 5}));
  EXPECT_EQ(concatenate({Tensor()}, 0).shape(), Shape{0});
}

TEST(Concatenate, NamesTheShapesThatDoNotFit) {
  EXPECT_EQ(
      message_of([] {
        static_cast<void>(concatenate({zeros({2, 3}), zeros({3, 3})}, 1));
      }),
      "[concatenate] tensor 1 has shape [3, 3], the first one [2, 3]. All sizes but those of axis 1 must be equal.");
  EXPECT_THROW(static_cast<void>(concatenate({zeros({2}), zeros({2, 1})}, 0)), ShapeError);
  EXPECT_THROW(static_cast<void>(concatenate({scalar(1), scalar(2)}, 0)), ShapeError);
  EXPECT_THROW(static_cast<void>(concatenate(std::vector<Tensor>{}, 0)), ValueError);
}

TEST(Concatenate, RefusesASizeThatDoesNotFit64Bits) {
  const Tensor wide = zeros({std::numeric_limits<Index>::max(), 0});
  EXPECT_THROW(static_cast<void>(concatenate({wide, wide}, 0)), ShapeError);
}

TEST(Concatenate, IsDifferentiable) {
  const auto along = [](int axis) {
    return [axis](const Tensor& a, const Tensor& b, const Tensor& c) { return concatenate({a, b, c}, axis); };
  };
  expect_gradients_match(along(0), counting64({1, 3}), counting64({2, 3}), counting64({0, 3}));
  expect_gradients_match(along(1), counting64({2, 3}), counting64({2, 1}), counting64({2, 2}));
}

TEST(Concatenate, GivesGradientsInTheElementTypeOfEachInput) {
  GradientTape tape;
  const Tensor a = tape.watch(tensor({1.0f}));
  const Tensor y = concatenate({a, tensor({2.0, 3.0})}, 0);
  const std::vector<Tensor> gradient =
      tape.gradient(std::vector<Tensor>{y}, std::vector<Tensor>{tensor({5.0, 6.0, 7.0})}, std::vector<Tensor>{a});
  EXPECT_TRUE(identical(gradient[0], tensor({5.0f})));
}

TEST(Concatenate, OfATensorWithItselfAddsBothGradients) {
  expect_gradients_match([](const Tensor& x) { return concatenate({x, x}, 0); }, counting64({2, 2}));
}

TEST(Stack, AddsAnAxis) {
  const Tensor a = counting({2, 3});
  const Tensor b = tensor({10, 11, 12, 13, 14, 15}, {2, 3});
  EXPECT_EQ(stack({a, b}, 0).shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(difference(stack({a, b}, 1), tensor({0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15}, {2, 2, 3}), exactly), "");
  EXPECT_EQ(difference(stack({a, b}, -1), tensor({0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15}, {2, 3, 2}), exactly), "");
  EXPECT_EQ(difference(stack({scalar(1), scalar(2)}, 0), tensor({1, 2}), exactly), "");
}

TEST(Stack, RefusesShapesThatDiffer) {
  EXPECT_EQ(message_of([] {
              static_cast<void>(stack({zeros({2}), zeros({3})}, 0));
            }),
            "[stack] tensor 1 has shape [3], the first one [2]. All must be equal.");
  EXPECT_THROW(static_cast<void>(stack({zeros({2})}, 2)), ShapeError);
  EXPECT_THROW(static_cast<void>(stack(std::vector<Tensor>{}, 0)), ValueError);
}

TEST(Stack, IsDifferentiable) {
  expect_gradients_match(
      [](const Tensor& a, const Tensor& b) {
        return stack({a, b}, 1);
      },
      counting64({2, 3}), counting64({2, 3}));
}

TEST(SplitAxis, CutsIntoEqualSections) {
  const std::vector<Tensor> parts = split_axis(counting({2, 4}), 2, -1);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(difference(parts[0], tensor({0, 1, 4, 5}, {2, 2}), exactly), "");
  EXPECT_EQ(difference(parts[1], tensor({2, 3, 6, 7}, {2, 2}), exactly), "");
}

TEST(SplitAxis, DoesNotCopyAlongTheLeadingAxis) {
  const Tensor x = counting({4, 2});
  EXPECT_TRUE(split_axis(x, 4, 0)[3].shares_elements_with(x[3]));
}

TEST(SplitAxis, RefusesSectionsThatDoNotDivide) {
  EXPECT_EQ(message_of([] {
              static_cast<void>(split_axis(counting({2, 4}), 3, 1));
            }),
            "[split_axis] axis 1 of [2, 4] cannot be cut into 3 equal sections.");
  EXPECT_THROW(static_cast<void>(split_axis(counting({2, 4}), 0, 1)), ShapeError);
  EXPECT_THROW(static_cast<void>(split_axis(counting({2, 4}), -2, 1)), ShapeError);
}

TEST(SplitAxis, IsDifferentiable) {
  expect_gradients_match([](const Tensor& x) { return split_axis(x, 3, 1)[1]; }, counting64({2, 6}));
  expect_gradients_match(
      [](const Tensor& x) {
        const std::vector<Tensor> parts = split_axis(x, 2, 0);
        return concatenate({parts[1], parts[0], parts[1]}, 1);
      },
      counting64({4, 2}));
}

TEST(SliceAxis, TakesARangeAlongAnyAxis) {
  const Tensor expected = tensor({4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23}, {2, 2, 4});
  EXPECT_EQ(difference(slice_axis(counting({2, 3, 4}), 1, 1, 3), expected, exactly), "");
  EXPECT_EQ(difference(slice_axis(counting({2, 3, 4}), 1, -2, 3), expected, exactly), "");
  EXPECT_EQ(slice_axis(counting({2, 3}), 1, 2, 2).shape(), (Shape{2, 0}));
}

TEST(SliceAxis, DoesNotCopyOneRun) {
  const Tensor x = counting({1, 4, 2});
  EXPECT_TRUE(slice_axis(x, 1, 1, 3).shares_elements_with(x[0].slice(1, 3)));
}

TEST(SliceAxis, RefusesPositionsThatAreNotThere) {
  EXPECT_EQ(message_of([] {
              static_cast<void>(slice_axis(counting({2, 3}), 1, 1, 4));
            }),
            "[slice_axis] there are no positions 1 to 4: axis 1 of [2, 3] has 3.");
  EXPECT_THROW(static_cast<void>(slice_axis(counting({2, 3}), 1, 2, 1)), ValueError);
  EXPECT_THROW(static_cast<void>(slice_axis(counting({2, 3}), 1, -4, 1)), ValueError);
  EXPECT_THROW(static_cast<void>(slice_axis(scalar(1), 0, 0, 1)), ShapeError);
}

TEST(SliceAxis, IsDifferentiable) {
  expect_gradients_match([](const Tensor& x) { return slice_axis(x, 1, 1, 3); }, counting64({2, 4, 2}));
  expect_gradients_match([](const Tensor& x) { return slice_axis(x, 0, 1, 2); }, counting64({3, 2}));
}

TEST(Flip, ReversesTheNamedAxes) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(difference(flip(x, 1), tensor({2, 1, 0, 5, 4, 3}, {2, 3}), exactly), "");
  EXPECT_EQ(difference(flip(x), tensor({5, 4, 3, 2, 1, 0}, {2, 3}), exactly), "");
  EXPECT_EQ(flip(zeros({0, 3}), 0).shape(), (Shape{0, 3}));
  EXPECT_EQ(flip(scalar(1)).item<int>(), 1);
  EXPECT_THROW(static_cast<void>(flip(x, {1, -1})), ShapeError);
}

TEST(Flip, IsDifferentiable) {
  expect_gradients_match([](const Tensor& x) { return flip(x, {0, 2}); }, counting64({2, 2, 3}));
}

TEST(Pad, SurroundsWithAValue) {
  EXPECT_EQ(difference(pad(counting({2, 3}), {{1, 0}, {0, 2}}, -1),
                       tensor({-1, -1, -1, -1, -1, 0, 1, 2, -1, -1, 3, 4, 5, -1, -1}, {3, 5}), exactly),
            "");
  EXPECT_EQ(difference(pad(zeros({0, 1}), {{1, 1}, {0, 0}}, 2.5), tensor({2.5f, 2.5f}, {2, 1}), exactly), "");
  EXPECT_EQ(pad(scalar(3), {}).item<int>(), 3);
}

TEST(Pad, RefusesWrongWidths) {
  EXPECT_THROW(static_cast<void>(pad(counting({2, 3}), {{1, 1}})), ShapeError);
  EXPECT_EQ(message_of([] {
              static_cast<void>(pad(counting({2}), {{0, -1}}));
            }),
            "[pad] the width of axis 0 is negative: 0, -1.");
  EXPECT_THROW(static_cast<void>(pad(counting({2}), {{std::numeric_limits<Index>::max(), 0}})), ShapeError);
}

TEST(Pad, IsDifferentiable) {
  expect_gradients_match([](const Tensor& x) { return pad(x, {{1, 0}, {2, 1}}, 5.0); }, counting64({2, 3}));
}

TEST(Repeat, RepeatsEachEntry) {
  EXPECT_EQ(difference(repeat(counting({2, 3}), 2, 0), tensor({0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}, {4, 3}), exactly),
            "");
  EXPECT_EQ(difference(repeat(counting({2, 3}), 2, 1), tensor({0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, {2, 6}), exactly),
            "");
  EXPECT_EQ(repeat(counting({2, 3}), 0, 0).shape(), (Shape{0, 3}));
  EXPECT_THROW(static_cast<void>(repeat(counting({2}), -1, 0)), ValueError);
}

TEST(Repeat, IsDifferentiable) {
  expect_gradients_match([](const Tensor& x) { return repeat(x, 3, 1); }, counting64({2, 2, 2}));
}

TEST(Tile, RepeatsTheWhole) {
  EXPECT_EQ(difference(tile(counting({2, 3}), 2, 0), tensor({0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}, {4, 3}), exactly),
            "");
  EXPECT_EQ(difference(tile(counting({2, 3}), 2, -1), tensor({0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}, {2, 6}), exactly),
            "");
  EXPECT_THROW(static_cast<void>(tile(scalar(1), 2, 0)), ShapeError);
  EXPECT_THROW(static_cast<void>(tile(zeros({2, 0}), std::numeric_limits<Index>::max(), 0)), ShapeError);
}

TEST(Tile, IsDifferentiable) {
  expect_gradients_match([](const Tensor& x) { return tile(x, 2, 1); }, counting64({2, 2, 2}));
}

}  // namespace
}  // namespace strata
