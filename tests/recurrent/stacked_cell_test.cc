// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/stacked_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recurrent/cells.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/recurrent_dropout.h"
#include "strata/recurrent/stacked.h"
#include "strata/tensor/error.h"
#include "support/compare.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;
using testing::HasSubstr;
using testing::ThrowsMessage;

static_assert(SelfStartingCell<StackedCell<LSTMCell>> && SequenceCell<StackedCell<LSTMCell>>);

TEST(StackedCell, DoesWhatStackedDoes) {
  Rngs rngs(0);
  const GRUCell first(2, 3, rngs);
  const GRUCell second(3, 3, rngs);
  const Tensor x = random::normal(random::key(1), {2, 4, 2});
  const Tensor lengths = tensor({4, 2});
  for (const bool residual : {false, true}) {
    StackedCell cell({first, second}, {.residual = residual});
    Stacked layers({RNN(first), RNN(second)}, nn::Dropout(0), {.residual = residual});
    const auto [carry, y] = scan(cell, x, {.seq_lengths = lengths});
    const auto expected = layers.scan(x, {.seq_lengths = lengths});
    EXPECT_EQ(difference(y, expected.y, support::within(1e-6)), "");
    EXPECT_EQ(difference(carry[0].h, expected.carry[0].h, support::within(1e-6)), "");
    EXPECT_EQ(difference(carry[1].h, expected.carry[1].h, support::within(1e-6)), "");
  }
}

TEST(StackedCell, BeginsEachCellWithItsOwnCarry) {
  Rngs rngs(0);
  const StackedCell cell({LSTMCell(2, 3, rngs), LSTMCell(3, 5, rngs)});
  const auto carry = cell.initial_carry({4, 2});
  EXPECT_EQ(carry[0].c.shape(), (Shape{4, 3}));
  EXPECT_EQ(carry[1].h.shape(), (Shape{4, 5}));
}

// A running sum takes its carry from the shape of its input, here the output of the cell before.
TEST(StackedCell, TellsEachCellTheShapeOfItsInput) {
  StackedCell cell({RunningSum{}, RunningSum{}});
  EXPECT_EQ(elements(scan(cell, tensor({1.0f, 2.0f, 3.0f}, {3, 1})).y), (std::vector<double>{1, 4, 10}));
}

TEST(StackedCell, DrawsAMaskForEachCell) {
  Rngs rngs(0);
  const auto layer = [&](Index width) { return RecurrentDropout(GRUCell(width, 3, rngs), {.input = 0.5}, rngs); };
  StackedCell cell({layer(2), layer(3)});
  const auto sequence = begin_sequence(cell, cell.initial_carry({4, 2}), {4, 2});
  EXPECT_EQ(sequence[0].x->shape(), (Shape{4, 2}));
  EXPECT_EQ(sequence[1].x->shape(), (Shape{4, 3}));
}

TEST(StackedCell, RefusesAnotherNumberOfCarries) {
  Rngs rngs(0);
  StackedCell cell({GRUCell(2, 3, rngs), GRUCell(3, 3, rngs)});
  EXPECT_THAT(
      [&] {
        (void)scan(cell, ones({4, 2}), {.initial_carry = {{HiddenCarry{zeros({3})}}}});
      },
      ThrowsMessage<ShapeError>("[scan] the initial carry has 1 entry, expected 2."));
  EXPECT_THAT(
      [&] {
        (void)scan(cell, ones({4, 2}), {.reset_carry = {{HiddenCarry{zeros({3})}}}});
      },
      ThrowsMessage<ShapeError>("[scan] the carry to reset to has 1 entry, expected 2."));
  EXPECT_THAT([&] { (void)cell({{zeros({3})}}, ones({2})); },
              ThrowsMessage<ShapeError>(HasSubstr("1 carries for 2 layers")));
}

TEST(StackedCell, NamesThePartOfACarryThatDoesNotFit) {
  Rngs rngs(0);
  StackedCell cell({GRUCell(2, 3, rngs), GRUCell(3, 3, rngs)});
  const StackedCell<GRUCell>::Carry carry{{zeros({3})}, {zeros({4})}};
  EXPECT_THAT(
      [&] {
        (void)scan(cell, ones({4, 2}), {.initial_carry = carry});
      },
      ThrowsMessage<ShapeError>(HasSubstr("`1.h`")));
}

TEST(StackedCell, RefusesToBeEmpty) {
  EXPECT_THAT([] { StackedCell<LSTMCell>({}); }, ThrowsMessage<ValueError>(HasSubstr("no layers")));
}

}  // namespace
}  // namespace strata::recurrent
