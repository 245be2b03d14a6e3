// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/embed.h"

#include <gtest/gtest.h>

#include <limits>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/reduce.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata::nn {
namespace {

using support::difference;
using support::exactly;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Embed three_rows() {
  Rngs rngs(0);
  Embed layer(3, 2, rngs);
  layer.embedding.set_value(tensor<float>({1, 2, 3, 4, 5, 6}, {3, 2}));
  return layer;
}

TEST(Embed, GivesTheRowsThatTheIndicesName) {
  EXPECT_TRUE(identical(three_rows()(tensor<std::int32_t>({2, 0, 0, 1}, {2, 2})),
                        tensor<float>({5, 6, 1, 2, 1, 2, 3, 4}, {2, 2, 2})));
}

TEST(Embed, NegativeIndicesCountFromTheEnd) {
  EXPECT_TRUE(identical(three_rows()(tensor<std::int64_t>({-1, -3})), tensor<float>({5, 6, 1, 2}, {2, 2})));
}

TEST(Embed, IndicesOutOfRangeGiveRowsOfNaN) {
  EXPECT_EQ(difference(three_rows()(tensor<std::int64_t>({3, 1, -4, 2})),
                       tensor<float>({nan, nan, 3, 4, nan, nan, 5, 6}, {4, 2}), exactly),
            "");
}

TEST(Embed, LargeUnsignedIndicesAreOutOfRange) {
  EXPECT_EQ(
      difference(three_rows()(scalar(std::numeric_limits<std::uint64_t>::max())), tensor<float>({nan, nan}), exactly),
      "");
}

TEST(Embed, ATableOfOneRowGivesThatRowForEveryIndex) {
  Rngs rngs(0);
  Embed layer(1, 2, rngs);
  layer.embedding.set_value(tensor<float>({7, 8}, {1, 2}));
  EXPECT_TRUE(identical(layer(tensor<std::int32_t>({0, 4})), tensor<float>({7, 8, 7, 8}, {2, 2})));
}

TEST(Embed, RowsOutOfRangeGetNoGradient) {
  Embed layer = three_rows();
  GradientTape tape;
  const Tensor table = tape.watch(layer.embedding);
  layer.embedding.reset(table);
  const Tensor loss = sum(layer(tensor<std::int32_t>({0, 3, 2, 2})));
  EXPECT_TRUE(identical(tape.gradient(loss, {table})[0], tensor<float>({1, 1, 0, 0, 2, 2}, {3, 2})));
}

TEST(Embed, AttendMultipliesQueriesByAllRows) {
  EXPECT_TRUE(identical(three_rows().attend(tensor<float>({1, 1, 1, -1}, {2, 2})),
                        tensor<float>({3, 7, 11, -1, -1, -1}, {2, 3})));
}

TEST(Embed, GradientsOfAttendMatchCentralDifferences) {
  support::expect_gradients_match(
      [](const Tensor& query, const Tensor& table) {
        Embed layer = three_rows();
        layer.embedding.reset(table);
        return layer.attend(query);
      },
      tensor({0.5, -1.0}), tensor({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {3, 2}));
}

TEST(Embed, ComputesInTheTypeThatWasAskedFor) {
  Rngs rngs(0);
  const Embed layer(3, 2, rngs, {.dtype = DType::float64});
  EXPECT_EQ(layer(tensor<std::int32_t>({0})).dtype(), DType::float64);
}

TEST(Embed, TakesNoIndices) { EXPECT_EQ(three_rows()(zeros({0, 4}, DType::int32)).shape(), (Shape{0, 4, 2})); }

TEST(Embed, RefusesIndicesThatAreNotIntegers) {
  EXPECT_THROW((void)three_rows()(tensor<float>({0})), DTypeError);
  EXPECT_THROW((void)three_rows()(tensor<bool>({true})), DTypeError);
}

TEST(Embed, RefusesSizesThatAreNotPositive) {
  Rngs rngs(0);
  EXPECT_THROW(Embed(0, 3, rngs), ShapeError);
  EXPECT_THROW(Embed(3, 0, rngs), ShapeError);
}

}  // namespace
}  // namespace strata::nn
