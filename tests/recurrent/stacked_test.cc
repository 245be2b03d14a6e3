// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/stacked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/nn/mode.h"
#include "strata/recurrent/chunks.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/tensor/error.h"
#include "support/compare.h"
#include "support/gradient_check.h"

// That stacks agree with PyTorch: torch_test.cc.
namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;

Stacked<RNN<RunningSum>> sums(StackedOptions options = {}) {
  return Stacked({RNN(RunningSum{}), RNN(RunningSum{})}, nn::Dropout(0), options);
}

TEST(Stacked, RunsEachLayerOverTheOutputOfTheOneBefore) {
  auto stack = sums();
  const auto [carry, y] = stack.scan(tensor({1.0f, 2.0f, 4.0f}, {3, 1}));
  EXPECT_EQ(elements(y), (Doubles{1, 4, 11}));
  EXPECT_EQ(elements(carry[0].sum), Doubles{7});
  EXPECT_EQ(elements(carry[1].sum), Doubles{11});
}

TEST(Stacked, PutsLayersUnderTheirNumbers) {
  Rngs rngs(0);
  const Stacked stack({RNN(GRUCell(2, 3, rngs)), RNN(GRUCell(3, 5, rngs))}, nn::Dropout(0.5, rngs));
  std::vector<std::string> paths;
  for (const auto& [path, variable] : nn::state(stack)) paths.push_back(to_string(path));
  EXPECT_EQ(paths, (std::vector<std::string>{"dropout/rngs/count", "dropout/rngs/key", "layers/0/cell/dense_h/kernel",
                                             "layers/0/cell/dense_i/bias", "layers/0/cell/dense_i/kernel",
                                             "layers/1/cell/dense_h/kernel", "layers/1/cell/dense_i/bias",
                                             "layers/1/cell/dense_i/kernel"}));
}

TEST(Stacked, AddsTheInputWhereTheWidthStays) {
  auto stack = sums({.residual = true});
  // By hand: the first layer gives 1 3 7 and, with its input, 2 5 11; the second 2 7 18 and 4 12 29.
  EXPECT_EQ(elements(stack(tensor({1.0f, 2.0f, 4.0f}, {3, 1}))), (Doubles{4, 12, 29}));
  Rngs rngs(0);
  const GRUCell first(2, 3, rngs);
  const GRUCell second(3, 3, rngs);
  Stacked widening({RNN(first), RNN(second)}, nn::Dropout(0), {.residual = true});
  const Tensor x = random::normal(random::key(1), {2, 4, 2});
  const Tensor below = RNN(first)(x);
  EXPECT_EQ(difference(widening(x), RNN(second)(below) + below, exactly), "");
}

TEST(Stacked, DropsBetweenLayersButNotBehindTheLast) {
  Rngs rngs(0);
  Stacked stack({RNN(RunningSum{}), RNN(RunningSum{}), RNN(RunningSum{})}, nn::Dropout(1, rngs));
  EXPECT_EQ(elements(stack(ones({2, 1}))), (Doubles{0, 0}));
  Stacked one({RNN(RunningSum{})}, nn::Dropout(1, rngs));
  EXPECT_EQ(elements(one(ones({2, 1}))), (Doubles{1, 2}));
}

TEST(Stacked, DropsAfreshAfterEachLayerAndNotInEvaluation) {
  Rngs rngs({{"dropout", 0}});
  Stacked stack({RNN(RunningSum{}), RNN(RunningSum{}), RNN(RunningSum{})}, nn::Dropout(0.5, rngs));
  (void)stack(ones({2, 1}));
  EXPECT_EQ(elements(stack.dropout.rngs->count), Doubles{2});
  nn::eval(stack);
  EXPECT_EQ(elements(stack(ones({2, 1}))), (Doubles{1, 4}));
  EXPECT_EQ(elements(stack.dropout.rngs->count), Doubles{2});
}

TEST(Stacked, RunsLayersThatAreReverseInTheOrderOfTheInput) {
  Stacked stack({RNN(RunningSum{}, {.reverse = true}), RNN(RunningSum{})});
  // Sums from the end: 7 6 4; of these from the beginning: 7 13 17.
  EXPECT_EQ(elements(stack(tensor({1.0f, 2.0f, 4.0f}, {3, 1}))), (Doubles{7, 13, 17}));
}

TEST(Stacked, TakesTimeFirst) {
  auto stack = sums({.time_major = true});
  const Tensor x = random::normal(random::key(1), {4, 2, 1});
  EXPECT_EQ(difference(move_axis(stack(x), 0, 1), sums()(move_axis(x, 0, 1)), exactly), "");
  EXPECT_EQ(difference(stack(move_axis(x, 0, 1), {.time_major = false}), move_axis(stack(x), 0, 1), exactly), "");
}

TEST(Stacked, FillsPaddingAsAskedWithResidualsToo) {
  for (const bool time_major : {false, true}) {
    const Tensor batch_first = with_padding(three_rows(), {2, 4, 0}, 9);
    const Tensor x = time_major ? move_axis(batch_first, 0, 1) : batch_first;
    const Tensor lengths = tensor({2, 4, 0});
    auto stack = sums({.residual = true, .time_major = time_major});
    const Tensor kept = stack(x, {.seq_lengths = lengths});
    const Tensor zero = stack(x, {.seq_lengths = lengths, .padding_output = PaddingOutput::zero});
    const Tensor last = stack(x, {.seq_lengths = lengths, .padding_output = PaddingOutput::repeat_last});
    const auto row = [&](const Tensor& y, Index i) { return elements((time_major ? move_axis(y, 0, 1) : y)[i]); };
    EXPECT_EQ(row(zero, 0), (Doubles{4, 12, 0, 0}));
    EXPECT_EQ(row(last, 0), (Doubles{4, 12, 12, 12}));
    EXPECT_EQ(row(last, 2), (Doubles{0, 0, 0, 0}));
    EXPECT_EQ(row(zero, 1), row(kept, 1));
  }
}

TEST(Stacked, BeginsWithTheCarriesGiven) {
  auto stack = sums();
  const std::vector<RunningSum::Carry> initial{{full({1}, 10)}, {full({1}, 100)}};
  EXPECT_EQ(elements(stack(ones({2, 1}), {.initial_carry = initial})), (Doubles{111, 123}));
}

TEST(Stacked, GivesTheCarryOfTheLastValidStepOfEachLayer) {
  auto stack = sums();
  const auto carry = stack.scan(three_rows(), {.seq_lengths = tensor({2, 4, 0})}).carry;
  EXPECT_EQ(elements(carry[0].sum), (Doubles{3, 26, 0}));
  EXPECT_EQ(elements(carry[1].sum), (Doubles{4, 60, 0}));  // 5 + 11 + 18 + 26
}

TEST(Stacked, KeepsNaNInPaddingToItself) {
  Rngs rngs(0);
  Stacked stack({RNN(GRUCell(2, 2, rngs)), RNN(GRUCell(2, 2, rngs))}, nn::Dropout(0.5, rngs), {.residual = true});
  const Tensor x = with_padding(random::normal(random::key(1), {2, 3, 2}), {3, 1}, nan);
  GradientTape tape;
  const Tensor watched = tape.watch(x);
  const Tensor y = stack(watched, {.seq_lengths = tensor({3, 1})});
  const Tensor weights = tensor<float>({1, 1, 1, 1, 0, 0}, {2, 3, 1});
  const Tensor dx = tape.gradient(sum(y * weights), {watched})[0];
  EXPECT_THAT(elements(dx[1].slice(1, 3)), testing::Each(0));
  for (const double element : elements(dx)) EXPECT_EQ(element, element);
}

// What comes out of an episode that begins in the second chunk is what it gives alone, whatever carry the chunk had.
TEST(Stacked, BeginsEpisodesWithTheCarryToResetTo) {
  auto stack = sums();
  const Tensor flags = tensor({false, true}, {2});
  const Tensor x = tensor({1.0f, 2.0f}, {2, 1});
  const auto sum = [](float value) { return RunningSum::Carry{full({1}, value)}; };
  const auto [carry, y] =
      stack.scan(x, {.initial_carry = {{sum(10), sum(20)}}, .resets = flags, .reset_carry = {{sum(3), sum(5)}}});
  EXPECT_EQ(elements(y), (Doubles{31, 10}));  // 20 + (10 + 1); 5 + (3 + 2)
  Stacked both({Bidirectional(RunningSum{}, RunningSum{})});
  const auto two =
      both.scan(x, {.initial_carry = {{{sum(10), sum(20)}}}, .resets = flags, .reset_carry = {{{sum(3), sum(5)}}}});
  // Forward 10 + 1, then 3 + 2; backward 20 + 2, then 5 + 1.
  EXPECT_EQ(elements(two.y), (Doubles{11, 6, 5, 22}));
}

TEST(Stacked, ChunksOfEpisodesAreTheWhole) {
  Rngs rngs(0);
  Stacked stack({RNN(GRUCell(2, 3, rngs)), RNN(GRUCell(3, 3, rngs))});
  const Tensor x = random::normal(random::key(1), {2, 6, 2});
  const Tensor resets =
      tensor({false, true, false, false, true, false, false, false, false, true, false, true}, {2, 6});
  const Tensor whole = stack(x, {.resets = resets});
  const std::vector<HiddenCarry> begin(2, {zeros({2, 3})});
  std::vector<HiddenCarry> carry = begin;
  std::vector<Tensor> parts;
  for (const Chunk& chunk : chunks(x, 4, {.resets = resets})) {
    auto result = stack.scan(chunk.x, {.initial_carry = carry, .resets = chunk.resets, .reset_carry = begin});
    carry = result.carry;
    parts.push_back(result.y);
  }
  EXPECT_EQ(difference(concatenate(parts, 1), whole, exactly), "");
}

// The checkpoints of the stack reach layers that name none; a call overrides them.
TEST(Stacked, KeepsCheckpointsAsItsOptionsSay) {
  auto stack = sums({.checkpoint_every = -1});
  EXPECT_THROW((void)stack(ones({2, 1})), ValueError);
  EXPECT_EQ(elements(stack(ones({2, 1}), {.checkpoint_every = 1})), (Doubles{1, 3}));
}

TEST(Stacked, HasGradients) {
  const auto check = [](const auto& make) {
    const auto f = [&](const Tensor& x) {
      Rngs rngs(0);
      auto stack = make(rngs);
      return stack(x, {.seq_lengths = tensor({3, 1})});
    };
    support::expect_gradients_match(f, random::normal(random::key(1), {2, 3, 2}, DType::float64));
  };
  const auto cell = [](Index width, Rngs& rngs) { return GRUCell(width, 2, rngs, {.param_dtype = DType::float64}); };
  check([&](Rngs& rngs) {
    return Stacked({RNN(cell(2, rngs)), RNN(cell(2, rngs))}, nn::Dropout(0.25, rngs), {.residual = true});
  });
  check([&](Rngs& rngs) {
    return Stacked({Bidirectional(cell(2, rngs), cell(2, rngs)), Bidirectional(cell(4, rngs), cell(4, rngs))},
                   nn::Dropout(0.25, rngs));
  });
}

TEST(Stacked, IsClonedSplitAndMerged) {
  Rngs rngs(0);
  Stacked stack({RNN(LSTMCell(2, 3, rngs)), RNN(LSTMCell(3, 4, rngs))}, nn::Dropout(0.5, rngs));
  auto copy = nn::clone(stack);
  auto [graph, params, others] = nn::split(stack, of_type<Param>, rest);
  auto merged = nn::merge(graph, params, others);
  const Tensor x = random::normal(random::key(1), {2, 3, 2});
  const Tensor y = stack(x);
  EXPECT_EQ(difference(copy(x), y, exactly), "");
  EXPECT_EQ(difference(merged(x), y, exactly), "");
}

TEST(Stacked, NamesWhatDoesNotFit) {
  auto stack = sums();
  EXPECT_THAT(
      [&] {
        (void)stack(ones({2, 1}), {.initial_carry = {{RunningSum::Carry{zeros({1})}}}});
      },
      ThrowsMessage<ShapeError>(HasSubstr("1 carries for 2 layers")));
  EXPECT_THAT(
      [&] {
        (void)stack(ones({2, 1}), {.reset_carry = {{RunningSum::Carry{zeros({1})}}}});
      },
      ThrowsMessage<ShapeError>(HasSubstr("1 carries for 2 layers")));
  EXPECT_THROW((void)stack(ones({2, 2, 1}), {.seq_lengths = tensor({3, 1})}), ValueError);
  EXPECT_THAT([] { Stacked<RNN<LSTMCell>>({}); }, ThrowsMessage<ValueError>(HasSubstr("no layers")));
}

// Ragged rows of several episodes: packed as padded, and each episode as if it were alone.
TEST(Stacked, RunsPackedSequencesAndEpisodes) {
  Rngs rngs(0);
  const auto layer = [&](Index in) {
    return Bidirectional(GRUCell(in, 3, rngs, {.param_dtype = DType::float64}),
                         GRUCell(in, 3, rngs, {.param_dtype = DType::float64}));
  };
  Stacked stack({layer(6), layer(6)}, nn::Dropout(0), {.residual = true});
  const Tensor x = random::normal(random::key(1), {2, 5, 6}, DType::float64);
  const Tensor lengths = tensor({5, 3});
  const Tensor resets = tensor({false, false, true, false, false, false, true, false, false, false}, {2, 5});
  const auto padded = stack.scan(x, {.seq_lengths = lengths, .resets = resets});
  const auto packed = stack.scan(PackedSequence::from_padded(x, lengths),
                                 {.resets = PackedSequence::from_padded(resets, lengths).data()});
  EXPECT_EQ(difference(packed.y.data(), PackedSequence::from_padded(padded.y, lengths).data(), exactly), "");
  EXPECT_EQ(difference(packed.carry[1].forward.h, padded.carry[1].forward.h, exactly), "");
  const Tensor episode = x[0].slice(2, 5);
  EXPECT_EQ(difference(padded.y[0].slice(2, 5), stack(episode), support::within_scaled(1e-12)), "");
  const auto checkpointed = stack.scan(x, {.seq_lengths = lengths, .resets = resets, .checkpoint_every = 2});
  EXPECT_EQ(difference(checkpointed.y, padded.y, exactly), "");
}

}  // namespace
}  // namespace strata::recurrent
