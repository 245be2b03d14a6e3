// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/carry_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "recurrent/scan_problem.h"
#include "strata/nn/value_and_grad.h"
#include "strata/recurrent/conv_lstm_cell.h"
#include "strata/recurrent/mgu_cell.h"
#include "strata/recurrent/stacked_cell.h"
#include "strata/tensor/error.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;
using support::within_scaled;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;
using Sums = ScanOptions<RunningSum::Carry>;

Doubles history(const Tensor& x, Sums options, CarryHistoryOptions which = {}) {
  RunningSum cell;
  return elements(carry_history(cell, x, options, which).sum);
}

Tensor one_row() { return tensor<float>({1, 2, 4, 8, 16, 32}, {6, 1}); }

TEST(CarryHistory, HoldsTheMemoryOfAnLSTMAfterEveryStep) {
  Rngs rngs(0);
  LSTMCell cell(2, 3, rngs);
  const Tensor x = random::normal(random::key(1), {2, 5, 2});
  const LSTMCarry all = carry_history(cell, x);
  ASSERT_EQ(all.c.shape(), (Shape{2, 5, 3}));
  LSTMCarry carry = cell.initial_carry({2, 2});
  for (Index t = 0; t < 5; ++t) {
    carry = cell(carry, take(x, scalar(t), 1)).carry;
    EXPECT_EQ(difference(take(all.c, scalar(t), 1), carry.c, exactly), "") << t;
    EXPECT_EQ(difference(take(all.h, scalar(t), 1), carry.h, exactly), "") << t;
  }
}

TEST(CarryHistory, LeavesTheCarryAsItIsWhereNothingRuns) {
  const RunningSum::Carry hundred{full({1}, 100.0F)};
  EXPECT_EQ(history(one_row(), {.seq_lengths = scalar(2), .initial_carry = hundred}),
            (Doubles{101, 103, 103, 103, 103, 103}));
  EXPECT_EQ(history(one_row(), {.seq_lengths = scalar(0), .initial_carry = hundred}),
            (Doubles{100, 100, 100, 100, 100, 100}));
  const Tensor mask = tensor({false, true, false, true, true, false});
  EXPECT_EQ(history(one_row(), {.mask = mask, .initial_carry = hundred}), (Doubles{100, 102, 102, 110, 126, 126}));
  EXPECT_EQ(history(one_row(), {.mask = mask, .initial_carry = hundred, .reverse = true, .keep_order = true}),
            (Doubles{126, 126, 124, 124, 116, 126}));
}

TEST(CarryHistory, BeginsWithTheInitialCarryIfAsked) {
  const RunningSum::Carry hundred{full({1}, 100.0F)};
  const Tensor x = tensor<float>({1, 2, 4}, {3, 1});
  const CarryHistoryOptions with_initial{.with_initial = true};
  EXPECT_EQ(history(x, {.initial_carry = hundred}, with_initial), (Doubles{100, 101, 103, 107}));
  Sums options{.initial_carry = hundred, .reverse = true};
  EXPECT_EQ(history(x, options, with_initial), (Doubles{100, 104, 106, 107}));
  options.keep_order = true;
  EXPECT_EQ(history(x, options, with_initial), (Doubles{107, 106, 104, 100}));
}

TEST(CarryHistory, BeginsEpisodesWithTheCarryToResetTo) {
  const Sums options{.mask = tensor({true, true, false, true, true, true}),
                     .initial_carry = RunningSum::Carry{full({1}, 100.0F)},
                     .resets = tensor({false, false, true, false, false, false}),
                     .reset_carry = RunningSum::Carry{full({1}, 200.0F)}};
  EXPECT_EQ(history(one_row(), options), (Doubles{101, 103, 200, 208, 224, 256}));
}

// Parts of several shapes and types, in a list and in a struct.
struct VariedCell {
  struct Carry {
    Tensor count;  // int64 [*batch]
    std::array<Tensor, 2> grids;
    RunningSum::Carry nested;
    Tensor seen;  // bool [*batch, features]
    STRATA_FIELDS(count, grids, nested, seen)
  };
  static constexpr int num_feature_axes = 1;

  Step<Carry> operator()(const Carry& carry, const Tensor& x) const {
    const Tensor outer = expand_dims(x, -1) * expand_dims(x, -2);
    Carry next{carry.count + 1,
               {carry.grids[0] + outer, (carry.grids[1] * outer).astype(DType::bfloat16)},
               {carry.nested.sum + x.astype(DType::float64)},
               x > 1};
    return {next, x};
  }
  Carry initial_carry(const Shape& input) const {
    const Shape batch = input.axes(0, input.rank() - 1);
    const Shape grid = input.append({input[-1]});
    return {zeros(batch, DType::int64),
            {zeros(grid), ones(grid, DType::bfloat16)},
            {full(input, 0.1, DType::float64)},
            zeros(input, DType::boolean)};
  }
};

TEST(CarryHistory, KeepsShapesAndTypesOfAllParts) {
  VariedCell cell;
  const Tensor x = random::normal(random::key(1), {2, 4, 3});
  const auto all =
      carry_history(cell, x, {.seq_lengths = tensor({4, 2}), .checkpoint_every = 2}, {.with_initial = true});
  EXPECT_EQ(elements(all.count), (Doubles{0, 1, 2, 3, 4, 0, 1, 2, 2, 2}));
  VariedCell::Carry carry = cell.initial_carry({2, 3});
  for (Index t = 0; t <= 4; ++t) {
    internal::for_each_tensor(
        [&](const std::string& name, const Tensor& whole, const Tensor& part) {
          const Tensor now = take(whole, scalar(t), 1);
          EXPECT_EQ(now.dtype(), part.dtype()) << name;
          EXPECT_EQ(difference(now[0], part[0], exactly), "") << name << t;
          if (t > 2) return;  // where the second row has ended
          EXPECT_EQ(difference(now[1], part[1], exactly), "") << name << t;
        },
        "", all, carry);
    if (t < 4) carry = cell(carry, take(x, scalar(t), 1)).carry;
  }
}

TEST(CarryHistory, TakesGridsAndStacks) {
  Rngs rngs(0);
  ConvLSTMCell<2> grids(1, 2, {3, 3}, rngs);
  EXPECT_EQ(carry_history(grids, zeros({3, 2, 4, 5, 1}), {.time_major = true}).c.shape(), (Shape{3, 2, 4, 5, 2}));
  StackedCell stack({GRUCell(2, 3, rngs), GRUCell(3, 4, rngs)});
  const auto all = carry_history(stack, zeros({5, 2}));
  EXPECT_EQ(all[1].h.shape(), (Shape{5, 4}));
}

TEST(CarryHistory, TakesNoStepsAndNoRows) {
  Rngs rngs(0);
  const LSTMCell cell(2, 3, rngs);
  EXPECT_EQ(carry_history(cell, zeros({4, 0, 2})).c.shape(), (Shape{4, 0, 3}));
  EXPECT_EQ(carry_history(cell, zeros({4, 0, 2}), {}, {.with_initial = true}).c.shape(), (Shape{4, 1, 3}));
  EXPECT_EQ(carry_history(cell, zeros({0, 5, 2})).c.shape(), (Shape{0, 5, 3}));
}

TEST(CarryHistory, RunsACellThatChangesItselfAsAScanDoes) {
  Rngs rngs(0);
  StatefulCell cell(3, rngs);
  StatefulCell scanned = nn::clone(cell);
  const Tensor x = random::normal(random::key(1), {4, 5, 3});
  EXPECT_EQ(difference(carry_history(cell, x).sum, scan(scanned, x).y, exactly), "");
  EXPECT_EQ(nn::state(cell), nn::state(scanned));
}

TEST(CarryHistory, GivesGradientsThroughCheckpoints) {
  Rngs rngs(0);
  LSTMCell cell(2, 3, rngs);
  const Tensor x = random::normal(random::key(1), {2, 7, 2});
  const auto gradients = [&](std::optional<Index> every) {
    const auto loss = [&](LSTMCell& watched) {
      const Tensor c = carry_history(watched, x, {.seq_lengths = tensor({7, 3}), .checkpoint_every = every}).c;
      return sum(c * c);
    };
    return nn::value_and_grad(loss, of_type<Param>)(cell).grads;
  };
  const State at_once = gradients({});
  const State again = gradients(2);
  for (const auto& [path, variable] : at_once) {
    EXPECT_NE(difference(variable.value(), zeros_like(variable.value()), exactly), "") << to_string(path);
    EXPECT_EQ(difference(again.at(path).value(), variable.value(), within_scaled(2e-6)), "") << to_string(path);
  }
}

TEST(CarryHistory, RefusesWhatDoesNotFit) {
  Rngs rngs(0);
  LSTMCell cell(2, 3, rngs);
  EXPECT_THROW((void)carry_history(cell, zeros({2, 4, 5})), ShapeError);
  EXPECT_THROW((void)carry_history(cell, zeros({2, 4, 2}), {.seq_lengths = tensor({5, 4})}), ValueError);
  NestedCell nested;
  const NestedCell::Carry unbatched{{zeros({2, 3})}, zeros({3})};
  EXPECT_THAT(
      [&] {
        (void)carry_history(nested, zeros({2, 4, 3}), {.initial_carry = unbatched});
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("`last`"), HasSubstr("[2]"))));
}

// ---------------------------------------------------------------- properties

template <class Carry>
Carry row_of(const Carry& carry, Index row) {
  Carry result = carry;
  internal::for_each_tensor([&](const std::string&, Tensor& part) { part = part[row]; }, "", result);
  return result;
}

// The carries of one row after each step, in the order of the input, by a loop of steps.
template <class C>
std::vector<typename C::Carry> loop_over_row(C& cell, const Tensor& x, const std::vector<bool>& runs,
                                             const std::vector<bool>& begins, const typename C::Carry& initial,
                                             const typename C::Carry& reset, bool reverse) {
  std::size_t end = runs.size();
  while (end > 0 && !runs[end - 1]) --end;
  std::vector<typename C::Carry> all(runs.size(), initial);
  typename C::Carry carry = initial;  // after the last step that ran
  typename C::Carry next = initial;   // with what the next one begins
  for (std::size_t i = 0; i < end; ++i) {
    const std::size_t t = reverse ? end - 1 - i : i;
    if (begins[t] && !reverse) next = reset;
    if (runs[t]) carry = next = cell(next, x[static_cast<Index>(t)]).carry;
    all[t] = next;
    if (begins[t] && reverse) next = reset;
  }
  for (std::size_t t = end; t < runs.size(); ++t) all[t] = carry;
  return all;
}

const auto by_loops = []<class C>(C& cell, const Tensor& x, const ScanOptions<typename C::Carry>& options) {
  using Carry = typename C::Carry;
  const Index time = x.size(1);
  const Carry initial = options.initial_carry.value_or(cell.initial_carry({x.size(0), x.size(2)}));
  const Carry reset = options.reset_carry.value_or(initial);
  Carry result = initial;
  std::vector<std::vector<Carry>> rows;
  for (Index row = 0; row < x.size(0); ++row) {
    std::vector<bool> runs, begins;
    for (Index t = 0; t < time; ++t) {
      runs.push_back(options.mask ? options.mask->template at<bool>({row, t})
                                  : t < options.seq_lengths->template at<Index>({row}));
      begins.push_back(options.resets && options.resets->template at<bool>({row, t}));
    }
    rows.push_back(
        loop_over_row(cell, x[row], runs, begins, row_of(initial, row), row_of(reset, row), *options.reverse));
  }
  const auto join = [&](auto part_of, Tensor& to) {
    std::vector<Tensor> stacked{};
    for (const auto& row : rows) {
      std::vector<Tensor> steps;
      for (const Carry& carry : row) steps.push_back(part_of(carry));
      stacked.push_back(stack(steps, 0));
    }
    to = stack(stacked, 0);
  };
  join([](const Carry& carry) { return carry.h; }, result.h);
  if constexpr (requires { result.c; }) join([](const Carry& carry) { return carry.c; }, result.c);
  return ScanResult<Carry>{result, result.h};
};

template <class C>
void assert_loops(const C& cell, const Problem& problem, const std::optional<Tensor>& mask) {
  auto options = problem.options(cell);
  options.keep_order = true;
  options.mask = mask;
  const auto got = scan_with_gradients(cell, problem.x(), options, [](C& c, const Tensor& x, const auto& call) {
    const auto all = carry_history(c, x, call);
    return ScanResult<typename C::Carry>{all, all.h};
  });
  assert_agreement(got, scan_with_gradients(cell, problem.x(), options, by_loops), problem.dtype);
}

RC_GTEST_PROP(CarryHistoryProperty, IsThatOfALoopOfSteps, ()) {
  Problem problem = any_batch();
  problem.time = std::max(problem.time, Index{1});
  if (*rc::gen::arbitrary<bool>()) problem = with_resets(problem);
  std::optional<Tensor> mask;
  if (*rc::gen::arbitrary<bool>()) {
    const auto seed = *rc::gen::inRange<std::int64_t>(0, 1000);
    mask = random::uniform(random::key(seed), problem.batch.append({problem.time})) < 0.6;
    problem.lengths = std::nullopt;
  }
  for_each_cell(problem.in, problem.hidden, problem.dtype,
                [&](const auto& cell) { assert_loops(cell, problem, mask); });
  Rngs rngs(3);
  assert_loops(MGUCell(problem.in, problem.hidden, rngs, {.param_dtype = problem.dtype}), problem, mask);
}

RC_GTEST_PROP(CarryHistoryProperty, EndsWithTheCarryOfAScan, ()) {
  Problem problem = any_problem();
  problem.keep_order = false;
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&](auto cell) {
    const auto options = problem.options(cell);
    const auto last = scan(cell, problem.x(), options).carry;
    const auto all = carry_history(cell, problem.x(), options, {.with_initial = true});
    const int time_axis = problem.time_major ? 0 : problem.batch.rank();
    const auto check = [&](const std::string&, const Tensor& whole, const Tensor& expected) {
      const Tensor end = take(whole, scalar(problem.time), time_axis);
      RC_ASSERT(difference(end, expected, within_scaled(value_bound(problem.dtype))).empty());
    };
    internal::for_each_tensor(check, "", std::as_const(all), last);
  });
}

}  // namespace
}  // namespace strata::recurrent
