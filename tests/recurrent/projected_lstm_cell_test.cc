// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/projected_lstm_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recurrent/cells.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/tensor/error.h"

// That it agrees with PyTorch: torch_test.cc.
namespace strata::recurrent {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

static_assert(SelfStartingCell<ProjectedLSTMCell> && Cell<const ProjectedLSTMCell>);

TEST(ProjectedLSTMCell, CarriesAWideMemoryAndANarrowOutput) {
  Rngs rngs(0);
  const ProjectedLSTMCell cell(2, 5, 3, rngs);
  const LSTMCarry carry = cell.initial_carry({4, 2});
  EXPECT_EQ(carry.c.shape(), (Shape{4, 5}));
  EXPECT_EQ(carry.h.shape(), (Shape{4, 3}));
  const auto step = cell(carry, ones({4, 2}));
  EXPECT_EQ(step.carry.c.shape(), (Shape{4, 5}));
  EXPECT_EQ(step.y.shape(), (Shape{4, 3}));
}

TEST(ProjectedLSTMCell, RunsInBothDirections) {
  Rngs rngs(0);
  Bidirectional layer(ProjectedLSTMCell(2, 5, 3, rngs), ProjectedLSTMCell(2, 4, 2, rngs));
  EXPECT_EQ(layer(ones({3, 6, 2}), {.seq_lengths = tensor({6, 0, 2})}).shape(), (Shape{3, 6, 5}));
}

TEST(ProjectedLSTMCell, NamesWhatDoesNotFit) {
  Rngs rngs(0);
  const ProjectedLSTMCell cell(2, 5, 3, rngs);
  const LSTMCarry carry = cell.initial_carry({4, 2});
  EXPECT_THAT(
      [&] {
        (void)cell(carry, ones({4, 5}));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("ProjectedLSTMCell"), HasSubstr("[*batch, 2]"))));
  EXPECT_THAT([&] { (void)cell({carry.h, carry.h}, ones({4, 2})); }, ThrowsMessage<ShapeError>(HasSubstr("`c`")));
  EXPECT_THAT([&] { (void)cell({carry.c, carry.c}, ones({4, 2})); }, ThrowsMessage<ShapeError>(HasSubstr("`h`")));
}

TEST(ProjectedLSTMCell, RefusesSizesAndFunctionsThatDoNotFit) {
  Rngs rngs(0);
  EXPECT_THROW((ProjectedLSTMCell{0, 3, 2, rngs}), ShapeError);
  EXPECT_THROW((ProjectedLSTMCell{2, 0, 2, rngs}), ShapeError);
  EXPECT_THROW((ProjectedLSTMCell{2, 3, 0, rngs}), ShapeError);
  EXPECT_THROW((ProjectedLSTMCell{2, 3, Index{1} << 62, rngs}), ShapeError);
  EXPECT_THROW((ProjectedLSTMCell{2, 3, 2, rngs, {.gate = nullptr}}), ValueError);
}

}  // namespace
}  // namespace strata::recurrent
