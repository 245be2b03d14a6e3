// SPDX-License-Identifier: Apache-2.0

// Scans that keep carries at checkpoints only: the option `checkpoint_every`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "recurrent/scan_problem.h"
#include "strata/nn/capture.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/mgu_cell.h"
#include "strata/tensor/error.h"

namespace strata::recurrent {
namespace {

using support::difference;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;

const auto plain_scan = [](auto& cell, const Tensor& x, const auto& options) { return scan(cell, x, options); };

// The same scan with checkpoints.
auto checkpointed(Index every) {
  return [every](auto& cell, const Tensor& x, auto options) {
    options.checkpoint_every = every;
    return scan(cell, x, options);
  };
}

// Values have the same bits, gradients are sums in another order.
void assert_same_values(const NamedTensors& a, const NamedTensors& b, DType dtype) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].name.starts_with("d ")) RC_ASSERT(identical(a[i].value, b[i].value));
  }
  assert_agreement(a, b, dtype);
}

void expect_same_values(const NamedTensors& got, const NamedTensors& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(difference(got[i].value, expected[i].value, support::within_scaled(2e-6)), "") << expected[i].name;
  }
}

RC_GTEST_PROP(CheckpointProperty, ChangesNoResultOfTheStandardCells, ()) {
  Problem problem = any_problem();
  if (*rc::gen::arbitrary<bool>()) problem = with_resets(problem);
  const Index every = *rc::gen::inRange<Index>(0, 5);
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&](const auto& cell) {
    const auto options = problem.options(cell);
    assert_same_values(scan_with_gradients(cell, problem.x(), options, checkpointed(every)),
                       scan_with_gradients(cell, problem.x(), options, plain_scan), problem.dtype);
  });
}

RC_GTEST_PROP(CheckpointProperty, ChangesNoResultStepByStep, ()) {
  Problem problem = any_problem();
  if (*rc::gen::arbitrary<bool>()) problem = with_resets(problem);
  Rngs rngs(3);
  const MGUCell cell(problem.in, problem.hidden, rngs, {.param_dtype = problem.dtype});
  const auto options = problem.options(cell);
  assert_same_values(scan_with_gradients(cell, problem.x(), options, checkpointed(*rc::gen::inRange<Index>(0, 5))),
                     scan_with_gradients(cell, problem.x(), options, plain_scan), problem.dtype);
}

template <class C>
void assert_packed(const C& cell, const Problem& problem, Index every) {
  const auto options = problem.options(cell);
  const auto run = [&](std::optional<Index> checkpoint_every) {
    return scan_with_gradients(cell, problem.x(), options, [&](C& c, const Tensor& x, auto call) {
      const auto packed = PackedSequence::from_padded(x, *call.seq_lengths);
      if (call.resets) call.resets = PackedSequence::from_padded(*call.resets, *call.seq_lengths).data();
      call.seq_lengths.reset();
      call.checkpoint_every = checkpoint_every;
      auto [carry, y] = scan(c, packed, call);
      return ScanResult<typename C::Carry>{carry, y.data()};
    });
  };
  assert_same_values(run(every), run({}), problem.dtype);
}

RC_GTEST_PROP(CheckpointProperty, ChangesNoResultOfPackedSequences, ()) {
  Problem problem = any_batch();
  if (*rc::gen::arbitrary<bool>()) problem = with_resets(problem);
  const Index every = *rc::gen::inRange<Index>(0, 5);
  for_each_cell(problem.in, problem.hidden, problem.dtype,
                [&](const auto& cell) { assert_packed(cell, problem, every); });
  Rngs rngs(3);
  assert_packed(MGUCell(problem.in, problem.hidden, rngs, {.param_dtype = problem.dtype}), problem, every);
}

TEST(Checkpoints, DrawTheSameDropoutAgain) {
  Rngs rngs(0);
  const StatefulCell cell(3, rngs);
  const Tensor x = random::normal(random::key(1), {4, 7, 3});
  const ScanOptions<StatefulCell::Carry> options{.seq_lengths = tensor({7, 3, 5, 0})};
  expect_same_values(scan_with_gradients(cell, x, options, checkpointed(3)),
                     scan_with_gradients(cell, x, options, plain_scan));
}

TEST(Checkpoints, LeaveTheStateThatACellMakesOfItself) {
  Rngs rngs(0);
  const StatefulCell cell(3, rngs);
  const Tensor x = random::normal(random::key(1), {4, 7, 3});
  const auto state_after = [&](std::optional<Index> every, bool recorded) {
    StatefulCell run = nn::clone(cell);
    GradientTape tape;
    if (recorded) run.map->kernel.reset(tape.watch(run.map->kernel));
    const auto result = scan(run, x, {.checkpoint_every = every});
    if (recorded) (void)tape.gradient(sum(result.y), {run.map->kernel});
    return nn::state(run);
  };
  EXPECT_EQ(state_after(3, true), state_after({}, false));
  EXPECT_EQ(state_after(3, false), state_after({}, false));
}

// What an operator() const of a module does with its cell.
TEST(Checkpoints, GiveTheGradientsOfAConstantCell) {
  Rngs rngs(0);
  const MGUCell cell(3, 4, rngs);
  const Tensor x = random::normal(random::key(1), {4, 7, 3});
  const auto constant = [](const MGUCell& c, const Tensor& input, auto options) {
    options.checkpoint_every = 3;
    return scan(c, input, options);
  };
  const auto packed = [](std::optional<Index> every) {
    return [every](const MGUCell& c, const Tensor& input, auto options) {
      options.checkpoint_every = every;
      auto [carry, y] = scan(c, PackedSequence::from_padded(input, tensor({7, 3, 5, 0})), options);
      return ScanResult<HiddenCarry>{carry, y.data()};
    };
  };
  expect_same_values(scan_with_gradients(cell, x, {}, constant), scan_with_gradients(cell, x, {}, plain_scan));
  expect_same_values(scan_with_gradients(cell, x, {}, packed(3)), scan_with_gradients(cell, x, {}, packed({})));
}

TEST(Checkpoints, LeaveAConstantCellAsItIs) {
  Rngs rngs(0);
  GradientTape tape;
  MGUCell cell(1, 4, rngs);
  cell.hn.kernel.reset(tape.watch(cell.hn.kernel));
  const Tensor before = cell.hn.kernel;
  (void)scan(std::as_const(cell), three_rows(), {.checkpoint_every = 3});
  EXPECT_TRUE(cell.hn.kernel.value().is_tracked());
  EXPECT_TRUE(cell.hn.kernel.value().shares_elements_with(before));
}

// Throws at its third step.
struct ThrowingCell {
  using Carry = RunningSum::Carry;
  static constexpr int num_feature_axes = 1;
  Param scale{ones({1})};
  int steps = 0;

  Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    if (++steps == 3) throw ValueError("[ThrowingCell] step 3.");
    return RunningSum()(carry, x * scale);
  }
  Carry initial_carry(const Shape& input) const { return {zeros(input)}; }

  STRATA_FIELDS(scale, steps)
};

TEST(Checkpoints, LeaveVariablesTrackedIfTheCellThrows) {
  GradientTape tape;
  ThrowingCell cell;
  cell.scale.reset(tape.watch(cell.scale));
  EXPECT_THROW((void)scan(cell, ones({5, 1}), {.checkpoint_every = 2}), ValueError);
  EXPECT_TRUE(cell.scale.value().is_tracked());
}

// Keeps what it saw in variables of its own: one list that grows, or one of a single entry that is made anew.
struct KeepingCell {
  using Carry = RunningSum::Carry;
  static constexpr int num_feature_axes = 1;
  Param scale{ones({1})};
  std::vector<BatchStat> seen = {};
  bool grows = false;

  Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    if (!grows) seen = std::vector<BatchStat>();
    seen.emplace_back(x * scale);
    return RunningSum()(carry, x * scale);
  }
  Carry initial_carry(const Shape& input) const { return {zeros(input)}; }

  STRATA_FIELDS(scale, seen, grows)
};

TEST(Checkpoints, RefuseACellThatAddsVariablesAndLeaveItsParametersTracked) {
  GradientTape tape;
  KeepingCell cell{.grows = true};
  cell.scale.reset(tape.watch(cell.scale));
  EXPECT_THAT(
      [&] {
        (void)scan(cell, ones({5, 1}), {.checkpoint_every = 2});
      },
      ThrowsMessage<StateError>(HasSubstr("`seen/0`")));
  EXPECT_TRUE(cell.scale.value().is_tracked());
}

TEST(Checkpoints, TakeVariablesThatMoveInMemory) {
  GradientTape tape;
  KeepingCell cell{.seen = {BatchStat(zeros({1}))}};
  const Tensor scale = tape.watch(cell.scale);
  cell.scale.reset(scale);
  const Tensor y = scan(cell, tensor({1.0F, 2.0F, 4.0F}, {3, 1}), {.checkpoint_every = 2}).y;
  EXPECT_EQ(elements(cell.seen[0].value()), Doubles{4});
  EXPECT_EQ(elements(tape.gradient(sum(y) + sum(cell.seen[0].value()), {scale})[0]), Doubles{1 + 3 + 7 + 4});
}

// Hands out its sum.
struct SumCell {
  using Carry = RunningSum::Carry;
  static constexpr int num_feature_axes = 1;

  Step<Carry> operator()(const Carry& carry, const Tensor& x) const {
    Step<Carry> step = RunningSum()(carry, x);
    nn::sow(*this, "sum", step.y);
    return step;
  }
  Carry initial_carry(const Shape& input) const { return {zeros(input)}; }

  STRATA_FIELDS()
};

TEST(Checkpoints, HandNothingOutAgainInTheBackwardPass) {
  SumCell cell;
  GradientTape tape;
  const Tensor x = tape.watch(three_rows());
  const Tensor loss = sum(scan(cell, x, {.checkpoint_every = 2}).y);
  EXPECT_TRUE(nn::capture(cell, [&](SumCell&) { (void)tape.gradient(loss, {x}); }).empty());
}

TEST(Checkpoints, MayBeFurtherApartThanThereAreSteps) {
  constexpr Index most = std::numeric_limits<Index>::max();
  Rngs rngs(0);
  const LSTMCell fused(1, 3, rngs);
  const MGUCell stepped(1, 3, rngs);
  const auto check = [&](const auto& cell) {
    expect_same_values(scan_with_gradients(cell, three_rows(), {}, checkpointed(most)),
                       scan_with_gradients(cell, three_rows(), {}, plain_scan));
  };
  check(fused);
  check(stepped);
}

TEST(Checkpoints, KeepInvalidPaddingOutOfGradients) {
  Rngs rngs(0);
  const MGUCell stepped(1, 3, rngs);
  const LSTMCell fused(1, 3, rngs);
  const Tensor weights = ones({3, 4, 3}) * (three_rows() < 3);  // none over the padding
  const auto check = [&](const auto& cell) {
    const Tensor x = with_padding(three_rows(), {2, 0, 4}, nan);
    for (const auto& [name, value] :
         scan_with_gradients(cell, x, {.seq_lengths = tensor({2, 0, 4})}, checkpointed(3), weights)) {
      EXPECT_TRUE(name == "y" || all(equal(value, value)).template item<bool>()) << name;
    }
  };
  check(stepped);
  check(fused);
}

TEST(Checkpoints, MayBeAnOptionOfTheLayer) {
  Rngs rngs(0);
  const LSTMCell cell(1, 3, rngs);
  RNN plain(cell);
  RNN rnn(cell, {.checkpoint_every = 2});
  Bidirectional<LSTMCell> plain_both(cell, cell);
  Bidirectional<LSTMCell> both(cell, cell, {.checkpoint_every = 2});
  GradientTape tape;
  const Tensor x = tape.watch(three_rows());
  EXPECT_TRUE(identical(rnn(x), plain(x)));
  EXPECT_TRUE(identical(both(x), plain_both(x)));
}

TEST(Checkpoints, RefuseANegativeNumber) {
  RunningSum cell;
  EXPECT_THAT([&] { (void)scan(cell, three_rows(), {.checkpoint_every = -1}); },
              ThrowsMessage<ValueError>(HasSubstr("checkpoint_every")));
}

}  // namespace
}  // namespace strata::recurrent
