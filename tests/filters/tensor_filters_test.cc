// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/tensor_filters.h"

#include <gtest/gtest.h>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

bool takes(const Filter& filter, const Shape& shape, DType dtype = DType::float32) {
  return filter({"a"}, Param(zeros(shape, dtype)));
}

TEST(OfDType, TakesTheTypesInTheList) {
  const Filter filter = of_dtype({DType::float32, DType::int8});
  EXPECT_TRUE(takes(filter, {1}, DType::int8));
  EXPECT_FALSE(takes(filter, {1}, DType::float64));
  EXPECT_FALSE(takes(of_dtype({}), {1}));
}

TEST(OfDType, OrderAndRepetitionDoNotMatter) {
  EXPECT_EQ(of_dtype({DType::float32, DType::int8}), of_dtype({DType::int8, DType::float32, DType::int8}));
}

TEST(OfShape, ComparesAxisByAxis) {
  EXPECT_TRUE(takes(of_shape({2, 3}), {2, 3}));
  EXPECT_FALSE(takes(of_shape({2, 3}), {3, 2}));
  EXPECT_FALSE(takes(of_shape({2, 3}), {2, 3, 1}));
  EXPECT_TRUE(takes(of_shape({}), {}));
  EXPECT_TRUE(takes(of_shape({0}), {0}));
}

TEST(OfShape, AnySizeIsOneAxis) {
  EXPECT_TRUE(takes(of_shape({any_size, 3}), {7, 3}));
  EXPECT_FALSE(takes(of_shape({any_size, 3}), {3}));
}

TEST(OfShape, AnySizesAreAnyNumberOfAxes) {
  EXPECT_TRUE(takes(of_shape({any_sizes, 3}), {3}));
  EXPECT_TRUE(takes(of_shape({any_sizes, 3}), {3, 4, 3}));
  EXPECT_TRUE(takes(of_shape({2, any_sizes, 2}), {2, 2}));
  EXPECT_FALSE(takes(of_shape({2, any_sizes, 2}), {2}));
}

TEST(OfShape, RefusesOtherNegativeSizes) { EXPECT_THROW((void)of_shape({-3}), FilterError); }

TEST(OfSizeAndRank, CompareWithANumber) {
  EXPECT_TRUE(takes(of_size >= 6, {2, 3}));
  EXPECT_FALSE(takes(of_size > 6, {2, 3}));
  EXPECT_TRUE(takes(of_size == 1, {}));
  EXPECT_TRUE(takes(of_rank != 2, {2}));
  EXPECT_TRUE(takes(of_rank < 1, {}));
  EXPECT_TRUE(takes(of_rank <= 2, {2, 3}));
}

TEST(TensorFilters, CombineWithOthers) {
  EXPECT_EQ(to_string(of_type<Param> && of_rank >= 2 && of_shape({any_size, 64}) && !(of_size < 10)),
            "Param & rank >= 2 & shape(*, 64) & !(size < 10)");
  EXPECT_EQ(to_string(of_shape({any_sizes, 3}) || of_dtype({DType::boolean})), "shape(**, 3) | dtype(bool)");
}

}  // namespace
}  // namespace strata
