// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/shape.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "strata/tensor/error.h"

namespace strata {
namespace {

constexpr Index largest = std::numeric_limits<Index>::max();

Shape of_rank(int rank) {
  const std::vector<Index> sizes(static_cast<std::size_t>(rank), 1);
  return Shape(std::span<const Index>(sizes));
}

TEST(Shape, OfAScalarHasNoAxesAndOneElement) {
  EXPECT_EQ(Shape{}.rank(), 0);
  EXPECT_EQ(Shape{}.num_elements(), 1);
  EXPECT_EQ(to_string(Shape{}), "[]");
}

TEST(Shape, NamesItsSizesFromEitherEnd) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 4);
  EXPECT_EQ(shape.num_elements(), 24);
  std::ostringstream text;
  text << shape;
  EXPECT_EQ(text.str(), "[2, 3, 4]");
}

TEST(Shape, RefusesAxesThatAreNotThere) {
  const Shape shape{2, 3};
  EXPECT_THROW(static_cast<void>(shape[2]), ShapeError);
  EXPECT_THROW(static_cast<void>(shape[-3]), ShapeError);
  EXPECT_THROW(static_cast<void>(Shape{}[0]), ShapeError);
  EXPECT_THROW(static_cast<void>(shape.axes(1, 3)), ShapeError);
  EXPECT_THROW(static_cast<void>(shape.axes(2, 1)), ShapeError);
  EXPECT_THROW(static_cast<void>(Shape{}.without_axis(0)), ShapeError);
}

TEST(Shape, RefusesNegativeSizes) { EXPECT_THROW(Shape({2, -1}), ShapeError); }

TEST(Shape, RefusesMoreElementsThanCanBeCounted) {
  EXPECT_EQ(Shape{largest}.num_elements(), largest);
  EXPECT_THROW(Shape({largest, 2}), ShapeError);
  EXPECT_THROW(Shape({Index{1} << 62, Index{1} << 62, 0}), ShapeError);
}

TEST(Shape, KeepsItsSizesAtEveryRank) {
  for (const int rank : {5, 6, 7, 100}) {
    const Shape shape = of_rank(rank).append({3});
    const Shape copy = shape;
    Shape assigned;
    assigned = copy;
    const Shape moved = std::move(assigned);
    EXPECT_EQ(moved, shape) << rank;
    EXPECT_EQ(moved.rank(), rank + 1);
    EXPECT_EQ(moved[-1], 3);
    EXPECT_EQ(moved.without_axis(-1), of_rank(rank));
  }
}

TEST(Shape, MayBeAssignedToItself) {
  for (const int rank : {2, 8}) {
    Shape shape = of_rank(rank);
    const Shape& same = shape;
    shape = same;
    EXPECT_EQ(shape, of_rank(rank));
  }
}

TEST(Shape, IsEmptyAfterItWasMovedFrom) {
  for (const int rank : {2, 8}) {
    Shape shape = of_rank(rank);
    const Shape moved = std::move(shape);
    EXPECT_EQ(moved.rank(), rank);
    EXPECT_EQ(shape.sizes().size(), static_cast<std::size_t>(shape.rank()));
    EXPECT_TRUE(shape.rank() == 0 || shape.begin() != nullptr);
  }
}

TEST(Shape, DiffersInRankAndSizes) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE(Shape{}, Shape{1});
  EXPECT_NE(Shape{0}, (Shape{0, 1}));
}

TEST(BroadcastShapes, AlignsAtTheLastAxis) {
  EXPECT_EQ(broadcast_shapes({2, 1, 4}, {3, 1}, "f"), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast_shapes({}, {3}, "f"), Shape{3});
  EXPECT_EQ(broadcast_shapes({}, {}, "f"), Shape{});
  EXPECT_EQ(broadcast_shapes({0}, {1}, "f"), Shape{0});
  EXPECT_EQ(broadcast_shapes({1}, {2, 0}, "f"), (Shape{2, 0}));
}

TEST(BroadcastShapes, NamesTheOperationAndBothShapes) {
  try {
    static_cast<void>(broadcast_shapes({2, 3}, {2}, "add"));
    FAIL() << "no error";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(),
                 "[add] shapes do not broadcast: [2, 3] and [2]. Sizes aligned at the last axis must be equal or 1.");
  }
  EXPECT_THROW(static_cast<void>(broadcast_shapes({0}, {2}, "f")), ShapeError);
}

TEST(BroadcastShapes, RefusesMoreElementsThanCanBeCounted) {
  EXPECT_THROW(static_cast<void>(broadcast_shapes({Index{1} << 40, 1}, {1, Index{1} << 40}, "f")), ShapeError);
}

}  // namespace
}  // namespace strata
