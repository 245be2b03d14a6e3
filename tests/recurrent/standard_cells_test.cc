// SPDX-License-Identifier: Apache-2.0

// What all standard cells refuse at construction.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/layer_norm_cells.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/mgu_cell.h"
#include "strata/recurrent/peephole_lstm_cell.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/tensor/error.h"

namespace strata::recurrent {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

template <class C>
class StandardCells : public testing::Test {};
using Cells = testing::Types<LSTMCell, OptimizedLSTMCell, GRUCell, SimpleCell, MGUCell, PeepholeLSTMCell,
                             LayerNormLSTMCell, LayerNormGRUCell>;
TYPED_TEST_SUITE(StandardCells, Cells);

TYPED_TEST(StandardCells, RefuseSizesThatAreNotPositive) {
  Rngs rngs(0);
  EXPECT_THROW((TypeParam{0, 3, rngs}), ShapeError);
  EXPECT_THROW((TypeParam{3, 0, rngs}), ShapeError);
  EXPECT_THROW((TypeParam{-1, 3, rngs}), ShapeError);
}

TYPED_TEST(StandardCells, RefuseSizesWhoseProductsCannotBeCounted) {
  Rngs rngs(0);
  constexpr Index most = std::numeric_limits<Index>::max();
  for (const Index size : {most, most / 2, most / 3, most / 8, Index{1} << 32}) {
    EXPECT_THAT([&] { (TypeParam{1, size, rngs}); }, ThrowsMessage<ShapeError>(HasSubstr(std::to_string(size))));
  }
  EXPECT_THROW((TypeParam{most, 1, rngs}), ShapeError);
  EXPECT_THROW((TypeParam{most / 4, 8, rngs}), ShapeError);
}

TYPED_TEST(StandardCells, RefuseNullFunctions) {
  Rngs rngs(0);
  EXPECT_THROW((TypeParam{2, 3, rngs, {.activation = nullptr}}), ValueError);
  if constexpr (requires(TypeParam c) { c.options.gate; }) {
    EXPECT_THROW((TypeParam{2, 3, rngs, {.gate = nullptr}}), ValueError);
  }
}

}  // namespace
}  // namespace strata::recurrent
