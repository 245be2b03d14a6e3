// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/cell.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/simple_cell.h"

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

}  // namespace
}  // namespace strata::recurrent
