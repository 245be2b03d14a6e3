// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/tensor/error.h"

namespace strata::recurrent {
namespace {

struct WithoutCarry {
  [[maybe_unused]] static constexpr int num_feature_axes = 1;
  Tensor operator()(const Tensor& x) const { return x; }
};

struct WithoutFeatureAxes {
  using Carry = HiddenCarry;
  Step<Carry> operator()(const Carry& carry, const Tensor& x) const { return {carry, x}; }
};

static_assert(SelfStartingCell<LSTMCell> && SelfStartingCell<OptimizedLSTMCell> && SelfStartingCell<GRUCell> &&
              SelfStartingCell<SimpleCell>);
static_assert(Cell<const LSTMCell> && Cell<const GRUCell> && Cell<const SimpleCell>);
static_assert(SelfStartingCell<RunningSum> && SelfStartingCell<RowSum>);
static_assert(Cell<NestedCell> && !SelfStartingCell<NestedCell>);
static_assert(Cell<StatefulCell> && !Cell<const StatefulCell>, "a cell that changes itself is no const cell");
static_assert(!SequenceCell<LSTMCell> && std::same_as<SequenceOf<LSTMCell>, NoSequence>);
static_assert(!Cell<WithoutCarry> && !Cell<WithoutFeatureAxes> && !Cell<nn::Linear> && !Cell<int>);

TEST(ForEachTensor, NamesThePartsOfANestedCarry) {
  const NestedCell::Carry carry{{ones({2})}, zeros({3})};
  std::vector<std::string> names;
  internal::for_each_tensor(
      [&](const std::string& name, const Tensor& part) { names.push_back(name + " " + to_string(part.shape())); }, "",
      carry);
  EXPECT_EQ(names, (std::vector<std::string>{"total.sum [2]", "last [3]"}));
}

TEST(ForEachTensor, VisitsSeveralCarriesTogether) {
  LSTMCarry to{zeros({1}), zeros({1})};
  const LSTMCarry from{full({1}, 2), full({1}, 3)};
  internal::for_each_tensor([](const std::string&, Tensor& a, const Tensor& b) { a = b; }, "", to, from);
  EXPECT_EQ(elements(to.c), std::vector<double>{2});
  EXPECT_EQ(elements(to.h), std::vector<double>{3});
}

TEST(ForEachTensor, NamesEntriesOfListsByTheirNumbers) {
  const std::vector<LSTMCarry> carry{{ones({2}), zeros({3})}, {ones({4}), zeros({5})}};
  const std::array<std::optional<Tensor>, 2> masks{ones({1}), std::nullopt};
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const Tensor& part) {
    names.push_back(name + " " + to_string(part.shape()));
  };
  internal::for_each_tensor(add, "", carry);
  internal::for_each_tensor(add, "masks", masks);
  EXPECT_EQ(names, (std::vector<std::string>{"0.c [2]", "0.h [3]", "1.c [4]", "1.h [5]", "masks.0 [1]"}));
}

TEST(ForEachTensor, RefusesListsOfAnotherLength) {
  std::vector<HiddenCarry> two{{ones({1})}, {ones({1})}};
  const std::vector<HiddenCarry> one{{zeros({1})}};
  const auto copy = [](const std::string&, Tensor& a, const Tensor& b) { a = b; };
  EXPECT_THAT(
      [&] { internal::for_each_tensor(copy, "layers", two, one); },
      testing::ThrowsMessage<ShapeError>(testing::HasSubstr("part `layers` of the carry has 2 entries, expected 1")));
  EXPECT_EQ(elements(two[0].h), std::vector<double>{1});
}

TEST(SameForm, LooksAtListsShapesAndElementTypes) {
  using Carry = std::vector<std::optional<HiddenCarry>>;
  const Carry carry{HiddenCarry{ones({2})}, std::nullopt};
  EXPECT_TRUE(internal::same_form(carry, Carry{HiddenCarry{zeros({2})}, std::nullopt}));
  EXPECT_FALSE(internal::same_form(carry, Carry{HiddenCarry{zeros({2})}}));
  EXPECT_FALSE(internal::same_form(carry, Carry{HiddenCarry{zeros({3})}, std::nullopt}));
  EXPECT_FALSE(internal::same_form(carry, Carry{HiddenCarry{zeros({2}, DType::float64)}, std::nullopt}));
  EXPECT_FALSE(internal::same_form(carry, Carry{std::nullopt, std::nullopt}));
  EXPECT_FALSE(internal::same_form(carry, Carry{HiddenCarry{zeros({2})}, HiddenCarry{zeros({2})}}));
}

// y = x + what the sequence was begun with: how often one was begun, counted by the cell.
struct CountingCell {
  using Carry = HiddenCarry;
  struct Sequence {
    Tensor number;
    STRATA_FIELDS(number)
  };
  static constexpr int num_feature_axes = 1;

  int begun = 0;

  Sequence begin_sequence(const Carry&, const Shape& input) { return {full(input, ++begun)}; }
  Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    return (*this)(carry, x, begin_sequence(carry, x.shape()));
  }
  Step<Carry> operator()(const Carry& carry, const Tensor& x, const Sequence& sequence) {
    return {carry, x + sequence.number};
  }
  Carry initial_carry(const Shape& input) const { return {zeros(input)}; }

  STRATA_FIELDS(begun)
};

TEST(SequenceCell, IsBegunOnceForEachScan) {
  CountingCell cell;
  EXPECT_EQ(elements(scan(cell, zeros({3, 1})).y), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(elements(scan(cell, zeros({2, 2, 1}), {.seq_lengths = tensor({1, 2})}).y),
            (std::vector<double>{2, 2, 2, 2}));
  EXPECT_EQ(cell.begun, 2);
}

TEST(SequenceCell, MakesASequenceOfOneStepCalledAlone) {
  CountingCell cell;
  EXPECT_EQ(elements(cell({zeros({1})}, zeros({1})).y), std::vector<double>{1});
  EXPECT_EQ(elements(cell({zeros({1})}, zeros({1})).y), std::vector<double>{2});
}

TEST(SequenceCell, IsNotBegunWithoutSteps) {
  CountingCell cell;
  EXPECT_EQ(scan(cell, zeros({0, 1})).y.shape(), (Shape{0, 1}));
  EXPECT_EQ(cell.begun, 0);
}

}  // namespace
}  // namespace strata::recurrent
