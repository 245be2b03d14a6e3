// SPDX-License-Identifier: Apache-2.0

// Episodes inside of rows: the option `resets` of scans.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "recurrent/scan_problem.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/mgu_cell.h"
#include "strata/tensor/error.h"

namespace strata::recurrent {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;

// One row of six steps, the last one padding, with episodes of 2, 1 and 2 steps.
Tensor one_row() { return tensor<float>({1, 2, 4, 8, 16, 32}, {1, 6, 1}); }
Tensor flags() { return tensor({false, false, true, true, false, true}, {1, 6}); }

TEST(Resets, BeginEpisodesWithTheInitialCarry) {
  RunningSum cell;
  const auto [carry, y] =
      scan(cell, one_row(), {.initial_carry = RunningSum::Carry{full({1, 1}, 100.0F)}, .resets = flags()});
  EXPECT_EQ(elements(y), (Doubles{101, 103, 104, 108, 124, 132}));
  EXPECT_EQ(elements(carry.sum), (Doubles{132}));
}

TEST(Resets, BeginEpisodesWithTheGivenCarry) {
  RunningSum cell;
  const auto [carry, y] = scan(cell, one_row(),
                               {.initial_carry = RunningSum::Carry{full({1, 1}, 100.0F)},
                                .resets = flags(),
                                .reset_carry = RunningSum::Carry{full({1, 1}, 200.0F)}});
  EXPECT_EQ(elements(y), (Doubles{101, 103, 204, 208, 224, 232}));
}

TEST(Resets, AtTheFirstStepReplaceTheInitialCarry) {
  RunningSum cell;
  const auto [carry, y] = scan(cell, tensor({1.0F, 2.0F}, {2, 1}),
                               {.initial_carry = RunningSum::Carry{full({1}, 100.0F)},
                                .resets = tensor({true, false}),
                                .reset_carry = RunningSum::Carry{full({1}, 200.0F)}});
  EXPECT_EQ(elements(y), (Doubles{201, 203}));
}

TEST(Resets, InReverseRunEpisodesFromTheirOwnEnds) {
  RunningSum cell;
  ScanOptions<RunningSum::Carry> options{.seq_lengths = tensor({5}),
                                         .initial_carry = RunningSum::Carry{full({1, 1}, 100.0F)},
                                         .resets = flags(),
                                         .reset_carry = RunningSum::Carry{zeros({1, 1})},
                                         .reverse = true,
                                         .padding_output = PaddingOutput::zero};
  const auto [carry, y] = scan(cell, one_row(), options);
  EXPECT_EQ(elements(y), (Doubles{116, 124, 4, 2, 3, 0}));
  EXPECT_EQ(elements(carry.sum), (Doubles{3}));
  options.keep_order = true;
  EXPECT_EQ(elements(scan(cell, one_row(), options).y), (Doubles{3, 2, 4, 124, 116, 0}));
}

TEST(Resets, InPaddingDoNothing) {
  RunningSum cell;
  const auto [carry, y] = scan(cell, one_row(), {.seq_lengths = tensor({5}), .resets = flags()});
  EXPECT_EQ(elements(y), (Doubles{1, 3, 4, 8, 24, 56}));
  EXPECT_EQ(elements(carry.sum), (Doubles{24}));
}

TEST(Resets, StopGradients) {
  RunningSum cell;
  GradientTape tape;
  const Tensor x = tape.watch(one_row());
  const Tensor start = tape.watch(zeros({1, 1}));
  const auto result = scan(cell, x, {.initial_carry = RunningSum::Carry{start}, .resets = flags()});
  const auto gradients = tape.gradient(sum(result.y.reshape({6}).slice(4, 5)), {x, start});
  EXPECT_EQ(elements(gradients[0]), (Doubles{0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(elements(gradients[1]), (Doubles{1}));  // what the episode began with
}

TEST(Resets, RunBothDirectionsWithinEpisodes) {
  Bidirectional<RunningSum> layer(RunningSum{}, RunningSum{});
  const auto y = layer(one_row(), {.resets = flags()});
  EXPECT_EQ(elements(y), (Doubles{1, 3, 3, 2, 4, 4, 8, 24, 24, 16, 32, 32}));
}

TEST(Resets, RefuseWhatDoesNotFit) {
  RunningSum cell;
  EXPECT_THAT([&] { (void)scan(cell, one_row(), {.resets = zeros({6}, DType::boolean)}); },
              ThrowsMessage<ShapeError>(HasSubstr("[1, 6]")));
  EXPECT_THAT(
      [&] {
        (void)scan(cell, one_row(), {.resets = zeros({1, 6})});
      },
      ThrowsMessage<DTypeError>(HasSubstr("bool")));
  EXPECT_THAT(
      [&] {
        (void)scan(cell, one_row(), {.resets = flags(), .reset_carry = RunningSum::Carry{zeros({2, 1})}});
      },
      ThrowsMessage<ShapeError>(HasSubstr("`sum` of the carry to reset to")));
}

RC_GTEST_PROP(ResetsProperty, OneOperationAgreesWithSteps, ()) {
  const Problem problem = with_resets(any_problem());
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&]<class C>(const C& cell) {
    const auto options = problem.options(cell);
    const auto fused = scan_with_gradients(cell, problem.x(), options,
                                           [](C& c, const Tensor& x, const auto& o) { return scan(c, x, o); });
    const auto steps = scan_with_gradients(cell, problem.x(), options, [](C& c, const Tensor& x, const auto& o) {
      return internal::scan_by_steps(c, x, o);
    });
    assert_agreement(fused, steps, problem.dtype);
  });
}

// Runs every episode of every row in a scan of its own; x is [batch, time, features], all outputs in the input's order
// and those over padding zero.
const auto episodes_one_by_one = []<class C>(C& cell, const Tensor& x, const ScanOptions<typename C::Carry>& options) {
  using Carry = typename C::Carry;
  const auto carry_of_row = [](const Carry& carry, Index row) {
    Carry result = carry;
    internal::for_each_tensor([&](const std::string&, Tensor& part) { part = part[row]; }, "", result);
    return result;
  };
  const Carry initial = options.initial_carry.value_or(cell.initial_carry({x.size(0), x.size(2)}));
  const Carry reset = options.reset_carry.value_or(initial);
  std::vector<Tensor> rows;
  Carry carry = initial;
  std::vector<Carry> carries;
  for (Index row = 0; row < x.size(0); ++row) {
    const Index length = options.seq_lengths->template at<Index>({row});
    std::vector<Index> borders{0};
    for (Index t = 1; t < length; ++t) {
      if (options.resets->template at<bool>({row, t})) borders.push_back(t);
    }
    if (length > 0) borders.push_back(length);
    std::vector<Tensor> pieces(borders.size() - 1);
    Carry last = carry_of_row(initial, row);
    for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
      const std::size_t episode = *options.reverse ? pieces.size() - 1 - i : i;
      const bool from_reset = i > 0 || (!*options.reverse && options.resets->template at<bool>({row, 0}));
      auto result = scan(cell, x[row].slice(borders[episode], borders[episode + 1]),
                         {.initial_carry = carry_of_row(from_reset ? reset : initial, row),
                          .reverse = options.reverse,
                          .keep_order = true});
      pieces[episode] = result.y;
      last = result.carry;
    }
    carries.push_back(last);
    pieces.push_back(zeros({x.size(1) - length, initial.h.size(1)}, x.dtype()));
    rows.push_back(concatenate(pieces, 0));
  }
  const auto join = [&](auto part_of) {
    std::vector<Tensor> parts;
    for (const Carry& each : carries) parts.push_back(part_of(each));
    return stack(parts, 0);
  };
  carry.h = join([](const Carry& each) { return each.h; });
  if constexpr (requires { carry.c; }) carry.c = join([](const Carry& each) { return each.c; });
  return ScanResult<Carry>{carry, stack(rows, 0)};
};

RC_GTEST_PROP(ResetsProperty, GiveEpisodesRunOneByOne, ()) {
  Problem problem = with_resets(any_batch());
  problem.keep_order = true;
  problem.padding_output = PaddingOutput::zero;
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&]<class C>(const C& cell) {
    const auto options = problem.options(cell);
    const auto together = scan_with_gradients(cell, problem.x(), options,
                                              [](C& c, const Tensor& x, const auto& o) { return scan(c, x, o); });
    const auto apart = scan_with_gradients(cell, problem.x(), options, episodes_one_by_one);
    for (std::size_t i = 0; i < together.size(); ++i) {
      if (!together[i].name.starts_with("d ")) RC_ASSERT(identical(together[i].value, apart[i].value));
    }
    assert_agreement(together, apart, problem.dtype);
  });
}

RC_GTEST_PROP(ResetsProperty, GiveOutputsInTheOrderOfProcessing, ()) {
  Problem problem = with_resets(any_batch());
  problem.reverse = true;
  problem.keep_order = true;
  for_each_cell(problem.in, problem.hidden, problem.dtype, [&](auto cell) {
    auto options = problem.options(cell);
    const Tensor in_order = scan(cell, problem.x(), options).y;
    options.keep_order = false;
    RC_ASSERT(identical(scan(cell, problem.x(), options).y, flip_sequences(in_order, problem.lengths)));
  });
}

}  // namespace
}  // namespace strata::recurrent
