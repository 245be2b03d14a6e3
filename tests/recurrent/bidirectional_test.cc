// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/bidirectional.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/error.h"
#include "strata/tensor/reduce.h"
#include "support/compare.h"
#include "support/message_of.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::within;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;

// One feature in, two units; weights are given as [hidden, in] and [hidden, hidden] row by row.
SimpleCell simple_cell(const Tensor& input, const Tensor& recurrent, const Tensor& bias) {
  Rngs rngs(0);
  SimpleCell cell(1, 2, rngs);
  cell.dense_i.kernel.set_value(transpose(input));
  cell.dense_i.bias->set_value(bias);
  cell.dense_h.kernel.set_value(transpose(recurrent));
  return cell;
}

Bidirectional<SimpleCell> padded_case() {
  return {simple_cell(tensor({-0.375f, -0.5f}, {2, 1}), tensor({-0.375f, 0.25f, -0.25f, 0.0f}, {2, 2}),
                      tensor({0.25f, 0.0f})),
          simple_cell(tensor({0.375f, -0.375f}, {2, 1}), tensor({-0.25f, 0.0f, 0.0f, -0.5f}, {2, 2}),
                      tensor({-0.125f, 0.0f}))};
}

Tensor padded_input() {
  return tensor<float>({0.625f, -0.625f, 0.75f, 0, 0.875f, -1, nan, nan, -0.375f, nan, nan, nan}, {3, 4, 1});
}

// Expected numbers: PyTorch 2.11, each row run alone and as a packed batch; flax.nnx 0.12 agrees.
TEST(Bidirectional, GivesEachRowOfAPaddedBatchWhatItGivesAlone) {
  auto layer = padded_case();
  const Tensor y = layer(padded_input(), {.seq_lengths = tensor({4, 2, 1})});
  const Tensor first = tensor({0.015623729, -0.30270973, 0.20272464, -0.39015713,  //
                               0.3823752, 0.2991575, -0.38478932, 0.35522074,      //
                               -0.099520795, -0.43867898, 0.185177, -0.2740616,    //
                               0.17580499, 0.024875067, -0.124353, 0.0},
                              {4, 4});
  const Tensor second = tensor({-0.077966444, -0.41157004, 0.30828962, -0.4678417,  //
                                0.5015275, 0.47730756, -0.46211717, 0.3583574},
                               {2, 4});
  const Tensor third = tensor({0.37189892, 0.18533319, -0.2595492, 0.1397053}, {1, 4});
  EXPECT_EQ(difference(y[0], first, within(1e-6)), "");
  EXPECT_EQ(difference(y[1].slice(0, 2), second, within(1e-6)), "");
  EXPECT_EQ(difference(y[2].slice(0, 1), third, within(1e-6)), "");
}

TEST(Bidirectional, CarriesTheStatesAfterTheLastAndTheFirstStep) {
  auto layer = padded_case();
  const auto [carry, y] = layer.scan(padded_input(), {.seq_lengths = tensor({4, 2, 1})});
  const Tensor forward = tensor({0.17580499, 0.024875067, 0.5015275, 0.47730756, 0.37189892, 0.18533319}, {3, 2});
  const Tensor backward = tensor({0.20272464, -0.39015713, 0.30828962, -0.4678417, -0.2595492, 0.1397053}, {3, 2});
  EXPECT_EQ(difference(carry.forward.h, forward, within(1e-6)), "");
  EXPECT_EQ(difference(carry.backward.h, backward, within(1e-6)), "");
}

TEST(Bidirectional, RunsTheBackwardCellFromEachRowsEnd) {
  Bidirectional<RunningSum> layer{RunningSum{}, RunningSum{}};
  const auto [carry, y] = layer.scan(three_rows(), {.seq_lengths = tensor({4, 2, 0})});
  EXPECT_EQ(elements(y[0]), (Doubles{1, 10, 3, 9, 6, 7, 10, 4}));  // by hand
  EXPECT_EQ(elements(y[1].slice(0, 2)), (Doubles{5, 11, 11, 6}));
  EXPECT_EQ(elements(carry.backward.sum), (Doubles{10, 11, 0}));
}

TEST(Bidirectional, TakesCellsOfDifferentTypesAndWidths) {
  Rngs rngs(0);
  Bidirectional<LSTMCell, GRUCell> layer{LSTMCell{3, 2, rngs}, GRUCell{3, 5, rngs}};
  const auto [carry, y] = layer.scan(ones({2, 4, 3}));
  EXPECT_EQ(y.shape(), (Shape{2, 4, 7}));
  EXPECT_EQ(carry.forward.c.shape(), (Shape{2, 2}));
  EXPECT_EQ(carry.backward.h.shape(), (Shape{2, 5}));
}

TEST(Bidirectional, MergesAsTold) {
  Bidirectional<RunningSum> layer{
      RunningSum{}, RunningSum{}, {.merge = [](const Tensor& forward, const Tensor& backward) {
        return forward - backward;
      }}};
  EXPECT_EQ(elements(layer(tensor({1.0f, 2.0f, 4.0f}, {3, 1}))), (Doubles{-6, -3, 3}));
}

TEST(Bidirectional, TakesAnInitialCarryForEachDirection) {
  Bidirectional<RunningSum> layer{RunningSum{}, RunningSum{}};
  const Tensor x = tensor({1.0f, 2.0f, 4.0f}, {3, 1});
  const auto [carry, y] = layer.scan(x, {.initial_backward_carry = RunningSum::Carry{full({1}, 100)}});
  EXPECT_EQ(elements(carry.forward.sum), Doubles{7});
  EXPECT_EQ(elements(carry.backward.sum), Doubles{107});
}

TEST(Bidirectional, TakesTimeFirst) {
  Rngs rngs(0);
  Bidirectional<GRUCell> layer{GRUCell{3, 2, rngs}, GRUCell{3, 2, rngs}};
  const Tensor x = random::normal(random::key(1), {4, 5, 3});
  const Tensor lengths = tensor({5, 3, 0, 1});
  const Tensor y = layer(x, {.seq_lengths = lengths});
  const Tensor time_first = layer(move_axis(x, 1, 0), {.seq_lengths = lengths, .time_major = true});
  EXPECT_TRUE(identical(move_axis(time_first, 0, 1), y));
}

TEST(Bidirectional, FillsPaddingOfBothDirections) {
  Bidirectional<RunningSum> layer{RunningSum{}, RunningSum{}};
  const Tensor lengths = tensor({4, 2, 0});
  const Tensor y = layer(three_rows(), {.seq_lengths = lengths, .padding_output = PaddingOutput::zero});
  EXPECT_EQ(elements(y[1]), (Doubles{5, 11, 11, 6, 0, 0, 0, 0}));
  EXPECT_EQ(elements(y[2]), Doubles(8, 0));
}

TEST(Bidirectional, UsesItsOwnOptionsWhereACallNamesNone) {
  Bidirectional<RunningSum> layer{
      RunningSum{}, RunningSum{}, {.time_major = true, .padding_output = PaddingOutput::zero}};
  const Tensor x = move_axis(three_rows(), 1, 0);
  const Tensor lengths = tensor({4, 2, 0});
  const Tensor y = layer(x, {.seq_lengths = lengths});
  EXPECT_EQ(elements(y.slice(2, 3)[0][1]), (Doubles{0, 0}));
  const Tensor kept = layer(x, {.seq_lengths = lengths, .padding_output = PaddingOutput::keep});
  EXPECT_EQ(elements(kept.slice(2, 3)[0][1]), (Doubles{18, 26}));  // 5 + 6 + 7; backward 6 + 5 + 8 + 7
}

TEST(Bidirectional, RefusesToMergeWithNothing) {
  EXPECT_THROW((Bidirectional<RunningSum>{RunningSum{}, RunningSum{}, {.merge = nullptr}}), ValueError);
}

TEST(Bidirectional, RefusesToLoseRowsAndSteps) {
  const auto merging = [](MergeFunction merge) {
    return Bidirectional<RunningSum>{RunningSum{}, RunningSum{}, {.merge = merge}};
  };
  const auto error = [&](MergeFunction merge, const auto& x) {
    auto layer = merging(merge);
    return support::message_of([&] { (void)layer(x); });
  };
  const MergeFunction all = [](const Tensor& forward, const Tensor& backward) { return sum(forward + backward); };
  const MergeFunction steps = [](const Tensor& forward, const Tensor&) { return sum(forward, -2); };
  const Tensor x = ones({4, 3, 1});
  EXPECT_EQ(error(all, x),
            "[Bidirectional] `merge` has made float32[] of the outputs float32[4, 3, 1] and float32[4, 3, 1], expected "
            "the axes [4, 3] first. Let it change features alone.");
  EXPECT_EQ(error(steps, x),
            "[Bidirectional] `merge` has made float32[4, 1] of the outputs float32[4, 3, 1] and float32[4, 3, 1], "
            "expected the axes [4, 3] first. Let it change features alone.");
  EXPECT_EQ(error(all, PackedSequence::from_padded(x, tensor({3, 1, 0, 2}))),
            "[Bidirectional] `merge` has made float32[] of the outputs float32[6, 1] and float32[6, 1], expected the "
            "axes [6] first. Let it change features alone.");
  auto features = merging([](const Tensor& forward, const Tensor& backward) { return sum(forward * backward, -1); });
  EXPECT_EQ(features(x).shape(), (Shape{4, 3}));
}

TEST(Bidirectional, TakesNoStepsAndNoRows) {
  Rngs rngs(0);
  Bidirectional<LSTMCell> layer{LSTMCell{3, 2, rngs}, LSTMCell{3, 2, rngs}};
  EXPECT_EQ(layer(zeros({2, 0, 3})).shape(), (Shape{2, 0, 4}));
  EXPECT_EQ(layer(zeros({0, 5, 3})).shape(), (Shape{0, 5, 4}));
}

TEST(Bidirectional, PutsVariablesUnderBothDirections) {
  Rngs rngs(0);
  const Bidirectional<SimpleCell> layer{SimpleCell{1, 2, rngs}, SimpleCell{1, 2, rngs}};
  std::vector<std::string> paths;
  for (const auto& [path, variable] : nn::state(layer)) paths.push_back(to_string(path));
  EXPECT_EQ(paths, (std::vector<std::string>{"backward_rnn/cell/dense_h/kernel", "backward_rnn/cell/dense_i/bias",
                                             "backward_rnn/cell/dense_i/kernel", "forward_rnn/cell/dense_h/kernel",
                                             "forward_rnn/cell/dense_i/bias", "forward_rnn/cell/dense_i/kernel"}));
}

struct CountingCell {
  using Carry = RunningSum::Carry;
  static constexpr int num_feature_axes = 1;
  int calls = 0;
  Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    ++calls;
    return {carry, x};
  }
  Carry initial_carry(const Shape& input) const { return {zeros(input)}; }
  STRATA_FIELDS(calls)
};

TEST(Bidirectional, ThrowsBeforeEitherCellIsRun) {
  Bidirectional<CountingCell> layer{CountingCell{}, CountingCell{}};
  EXPECT_THAT(
      [&] {
        (void)layer(three_rows(), {.initial_backward_carry = CountingCell::Carry{zeros({2, 1})}});
      },
      ThrowsMessage<ShapeError>(HasSubstr("`sum`")));
  EXPECT_EQ(layer.forward_cell().calls, 0);
  EXPECT_EQ(layer.backward_cell().calls, 0);
}

}  // namespace
}  // namespace strata::recurrent
