// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "strata/nn/losses.h"
#include "strata/nn/split.h"
#include "strata/nn/value_and_grad.h"
#include "strata/recurrent/beam_search.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/recurrent_dropout.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/index.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/random.h"
#include "strata/tensor/reduce.h"
#include "support/message_of.h"

namespace strata::recurrent {
namespace {

// The next token depends on the last one alone: row `last` of a table of logits. The carry counts steps.
struct MarkovDecoder {
  struct Carry {
    Tensor steps;
    STRATA_FIELDS(steps)
  };
  Tensor table;

  Step<Carry> step(const Carry& carry, const Tensor& tokens) const {
    return {{carry.steps + 1}, take(table, tokens, 0)};
  }
  [[nodiscard]] static Carry start(Index rows) { return {zeros({rows})}; }
};

// 1 -> 2 -> 3 -> 0, the end; 3 follows 2 with probability 0.6, the end with 0.4.
MarkovDecoder counting() {
  const Tensor probability = tensor({1.0, 0.0, 0.0, 0.0,   //
                                     0.0, 0.0, 1.0, 0.0,   //
                                     0.4, 0.0, 0.0, 0.6,   //
                                     1.0, 0.0, 0.0, 0.0},  //
                                    {4, 4});
  return {log(probability)};
}

TokenDecoder<LSTMCell> small_decoder(Index vocabulary, DType dtype = DType::float32) {
  Rngs rngs(3);
  return {LSTMCell(vocabulary, 5, rngs, {.param_dtype = dtype}),
          nn::Linear(5, vocabulary, rngs, {.param_dtype = dtype})};
}

TEST(Decode, FeedsBackTheLikeliestTokens) {
  MarkovDecoder decoder = counting();
  const auto decoded = decode(decoder, decoder.start(2), tensor<Index>({1, 2}), 3);
  EXPECT_TRUE(identical(decoded.tokens, tensor<Index>({2, 3, 0, 3, 0, 0}, {2, 3})));
  EXPECT_TRUE(identical(decoded.lengths, tensor<Index>({3, 3})));
  EXPECT_TRUE(identical(decoded.carry.steps, tensor({3.0F, 3.0F})));
  EXPECT_EQ(decoded.logits.shape(), (Shape{2, 3, 4}));
}

TEST(Decode, StopsWhereAllTextsHaveEnded) {
  MarkovDecoder decoder = counting();
  const auto decoded = decode(decoder, decoder.start(2), tensor<Index>({1, 3}), 100, {.end_token = 0});
  EXPECT_TRUE(identical(decoded.tokens, tensor<Index>({2, 3, 0, 0, 0, 0}, {2, 3})));
  EXPECT_TRUE(identical(decoded.lengths, tensor<Index>({2, 0})));
}

TEST(Decode, TakesTheTokensThatAreChosen) {
  MarkovDecoder decoder = counting();
  const auto second = [](const Tensor& logits) { return full(logits.shape().without_axis(-1), 2, DType::int32); };
  const auto decoded = decode(decoder, decoder.start(1), tensor<Index>({1}), 2, {.choose = second});
  EXPECT_TRUE(identical(decoded.tokens, tensor<Index>({2, 2}, {1, 2})));
}

TEST(Decode, TakesNoStepWhereNoneIsAskedFor) {
  MarkovDecoder decoder = counting();
  const auto decoded = decode(decoder, decoder.start(2), tensor<Index>({1, 2}), 0);
  EXPECT_EQ(decoded.tokens.shape(), (Shape{2, 0}));
  EXPECT_TRUE(identical(decoded.carry.steps, zeros({2})));
  EXPECT_EQ(decode(decoder, decoder.start(0), zeros({0}, DType::int64), 4).tokens.shape(), (Shape{0, 0}));
}

TEST(Decode, RefusesWhatDoesNotFit) {
  MarkovDecoder decoder = counting();
  const auto start = tensor<Index>({1});
  const auto carry = MarkovDecoder::start(1);
  EXPECT_THROW(static_cast<void>(decode(decoder, carry, start, -1)), ValueError);
  EXPECT_THROW(static_cast<void>(decode(decoder, carry, start, 3, {.end_token = 4})), ValueError);
  EXPECT_THROW(static_cast<void>(decode(decoder, carry, ones({1}), 3)), DTypeError);
  const auto all = [](const Tensor& logits) { return zeros(logits.shape(), DType::int64); };
  EXPECT_THROW(static_cast<void>(decode(decoder, carry, start, 3, {.choose = all})), ShapeError);
  EXPECT_THROW(
      static_cast<void>(decode(decoder, carry, start, 3, {.choose = [](const Tensor& x) { return max(x, -1); }})),
      DTypeError);
}

std::string decode_error(MarkovDecoder decoder, const DecodeOptions& options = {}) {
  return support::message_of([&] {
    static_cast<void>(decode(decoder, MarkovDecoder::start(2), tensor<Index>({2, 1}), 9, options));
  });
}

TEST(Decode, RefusesTokensThatAreNotInTheVocabulary) {
  const auto always = [](const Tensor& tokens) { return [tokens](const Tensor&) { return tokens; }; };
  EXPECT_EQ(decode_error(counting(), {.choose = always(tensor<Index>({1, 4}))}),
            "[decode] the chosen token 4 is not in the vocabulary of 4 tokens. Choose one from 0 to 3.");
  EXPECT_EQ(decode_error(counting(), {.choose = always(tensor<std::int8_t>({-1, 0}))}),
            "[decode] the chosen token -1 is not in the vocabulary of 4 tokens. Choose one from 0 to 3.");
  EXPECT_EQ(decode_error(counting(), {.choose = always(tensor<std::uint64_t>({0, 18446744073709551615U}))}),
            "[decode] the chosen token 18446744073709551615 is not in the vocabulary of 4 tokens. Choose one from 0 to "
            "3.");
}

// The texts of `counting` from 2 and 1 go 3, 0 (the end) and 2, 3, 0.
MarkovDecoder counting_with(Index row, double logit) {
  MarkovDecoder decoder = counting();
  for (Index token = 0; token < 4; ++token)
    decoder.table.mutable_data<double>()[static_cast<std::size_t>(row * 4 + token)] = logit;
  return decoder;
}

TEST(Decode, RefusesLogitsThatLeaveNothingToChoose) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(decode_error(counting_with(3, std::nan(""))),
            "[decode] at step 1 the logit of token 0 is nan in row 0. Logits are numbers, or minus infinity for tokens "
            "that cannot follow.");
  EXPECT_EQ(decode_error(counting_with(1, infinity)),
            "[decode] at step 0 the logit of token 0 is inf in row 1. Logits are numbers, or minus infinity for tokens "
            "that cannot follow.");
  EXPECT_EQ(decode_error(counting_with(1, -infinity)),
            "[decode] at step 0 all logits of row 1 are minus infinity, so that no token can follow. Leave one, such "
            "as the end token.");
  const auto zero = [](const Tensor&) { return zeros({2}, DType::int64); };
  EXPECT_NE(decode_error(counting_with(1, std::nan("")), {.choose = zero}), "");
}

TEST(Decode, DoesNotMindTheLogitsOfTextsThatHaveEnded) {
  EXPECT_EQ(decode_error(counting_with(0, std::nan("")), {.end_token = 0}), "");
}

// Two batch axes, a batch of one axis, and none at all are the same texts.
TEST(Decode, TakesAnyNumberOfBatchAxes) {
  auto decoder = small_decoder(6);
  const Tensor start = tensor<Index>({1, 2, 3, 4}, {2, 2});
  const auto grid = decode(decoder, decoder.cell.initial_carry({2, 2, 6}), start, 4);
  const auto line = decode(decoder, decoder.cell.initial_carry({4, 6}), start.reshape({4}), 4);
  EXPECT_TRUE(identical(grid.logits.reshape({4, 4, 6}), line.logits));
  const auto one = decode(decoder, decoder.cell.initial_carry({6}), scalar<Index>(2), 4);
  EXPECT_TRUE(identical(one.tokens, line.tokens[1]));
}

// Decoding and teacher forcing with the tokens that were chosen are the same computation.
TEST(TokenDecoder, GivesTheLogitsOfDecodingWhereItsTokensAreForced) {
  auto decoder = small_decoder(7);
  const auto carry = decoder.cell.initial_carry({3, 7});
  const Tensor start = tensor<Index>({0, 3, 6});
  const auto decoded = decode(decoder, carry, start, 5);
  const Tensor inputs = concatenate({start.reshape({3, 1}), slice_axis(decoded.tokens, 1, 0, 4)}, 1);
  const auto forced = decoder.scan(inputs, {.initial_carry = carry});
  EXPECT_LT(max(abs(forced.y - decoded.logits)).item<float>(), 1e-6F);
}

// A mask of dropout holds for a whole text, whether its tokens are given or chosen, and for all beams of a row.
TEST(TokenDecoder, FixesTheSameForTextsThatAreGivenAndChosen) {
  Rngs rngs(3);
  const TokenDecoder decoder(
      RecurrentDropout(LSTMCell(7, 5, rngs), {.recurrent = 0.5, .input = 0.5}, rngs, {.rng_collection = "dropout"}),
      nn::Linear(5, 7, rngs));
  const auto carry = decoder.cell.initial_carry({3, 7});
  const Tensor start = tensor<Index>({0, 3, 6});
  auto writing = decoder;
  const auto decoded = decode(writing, carry, start, 5);
  const Tensor inputs = concatenate({start.reshape({3, 1}), slice_axis(decoded.tokens, 1, 0, 4)}, 1);
  auto told = decoder;
  const auto forced = told.scan(inputs, {.initial_carry = carry});
  EXPECT_LT(max(abs(forced.y - decoded.logits)).item<float>(), 1e-6F);
  auto next_forced = told.scan(inputs, {.initial_carry = carry});
  EXPECT_GT(max(abs(next_forced.y - forced.y)).item<float>(), 1e-3F);
  auto searching = decoder;
  const auto beam = beam_search(searching, carry, start, 5, {.beams = 1});
  EXPECT_TRUE(identical(squeeze(beam.tokens, 1), decoded.tokens));
  auto in_beams = decoder;
  EXPECT_EQ(beam_search(in_beams, carry, start, 5, {.beams = 3}).tokens.shape(), (Shape{3, 3, 5}));
}

TEST(TokenDecoder, LooksTokensUpInATableIfItHasOne) {
  Rngs rngs(1);
  TokenDecoder<GRUCell> decoder{nn::Embed(9, 4, rngs), GRUCell(4, 5, rngs), nn::Linear(5, 9, rngs)};
  const auto step = decoder.step(decoder.cell.initial_carry({2, 4}), tensor<Index>({1, 8}));
  EXPECT_EQ(step.y.shape(), (Shape{2, 9}));
  EXPECT_TRUE(nn::state(decoder).contains(Path{"embed", "embedding"}));
}

// The gradient goes through the carries of steps whose inputs are chosen tokens.
TEST(Decode, IsDifferentiableThroughItsCarry) {
  auto decoder = small_decoder(4, DType::float64);
  const Tensor labels = tensor<Index>({1, 2, 3}, {1, 3});
  const auto loss = [&](TokenDecoder<LSTMCell>& of) {
    const auto decoded = decode(of, of.cell.initial_carry({1, 4}), tensor<Index>({0}), 3);
    return nn::softmax_cross_entropy(decoded.logits, labels);
  };
  const auto [value, grads] = nn::value_and_grad(loss, of_type<Param>)(decoder);
  constexpr double h = 1e-6;
  for (const char* name : {"ii", "hf"}) {
    const Path path{"cell", name, "kernel"};
    const auto shifted = [&](double by) {
      auto other = decoder;
      State state = nn::state(other);
      Tensor kernel = state.at(path).value();
      kernel.mutable_data<double>()[1] += by;
      state.set(path, Param(kernel));
      nn::update(other, state);
      return loss(other).item<double>();
    };
    const double expected = (shifted(h) - shifted(-h)) / (2 * h);
    EXPECT_NEAR(grads.at(path).value().data<double>()[1], expected, 1e-8) << name;
  }
}

TEST(BeamSearch, RanksTextsByTheirProbability) {
  MarkovDecoder decoder = counting();
  const auto found = beam_search(decoder, decoder.start(1), tensor<Index>({1}), 10, {.beams = 3, .end_token = 0});
  // "2 3 end" with 0.6, "2 end" with 0.4, and nothing else is possible.
  EXPECT_TRUE(identical(slice_axis(found.tokens, 1, 0, 2), tensor<Index>({2, 3, 0, 2, 0, 0}, {1, 2, 3})));
  EXPECT_TRUE(identical(slice_axis(found.lengths, 1, 0, 2), tensor<Index>({2, 1}, {1, 2})));
  EXPECT_NEAR(found.scores.at<double>({0, 0}), std::log(0.6), 1e-12);
  EXPECT_NEAR(found.scores.at<double>({0, 1}), std::log(0.4), 1e-12);
  EXPECT_EQ(found.scores.at<double>({0, 2}), -std::numeric_limits<double>::infinity());
}

TEST(BeamSearch, IsGreedyWithOneBeam) {
  auto decoder = small_decoder(6);
  const auto carry = decoder.cell.initial_carry({3, 6});
  const Tensor start = tensor<Index>({1, 2, 5});
  const auto greedy = decode(decoder, carry, start, 7, {.end_token = 0});
  const auto beam = beam_search(decoder, carry, start, 7, {.beams = 1, .end_token = 0});
  EXPECT_TRUE(identical(squeeze(beam.tokens, 1), greedy.tokens));
  EXPECT_TRUE(identical(squeeze(beam.lengths, 1), greedy.lengths));
}

// With as many beams as there are texts, what is found is the best of all texts, tried one by one.
TEST(BeamSearch, FindsTheBestOfAllTexts) {
  constexpr Index vocabulary = 3;
  constexpr Index steps = 4;
  auto decoder = small_decoder(vocabulary, DType::float64);
  const auto carry = decoder.cell.initial_carry({1, vocabulary});
  double best = -std::numeric_limits<double>::infinity();
  std::vector<Index> best_text;
  for (Index number = 0; number < 81; ++number) {  // 3^4 texts
    std::vector<Index> text;
    for (Index rest = number, i = 0; i < steps; ++i, rest /= vocabulary) text.push_back(rest % vocabulary);
    std::vector<Index> inputs{1};
    inputs.insert(inputs.end(), text.begin(), text.end() - 1);
    const auto forced = decoder.scan(tensor(inputs, {1, steps}), {.initial_carry = carry});
    const double log_probability =
        -steps * nn::softmax_cross_entropy(forced.y, tensor(text, {1, steps})).item<double>();
    if (log_probability > best) {
      best = log_probability;
      best_text = text;
    }
  }
  const auto found = beam_search(decoder, carry, tensor<Index>({1}), steps, {.beams = 81});
  EXPECT_TRUE(identical(found.tokens[0][0], tensor(best_text, {steps})));
  EXPECT_NEAR(found.scores.at<double>({0, 0}), best, 1e-12);
}

// ((5 + 2) / 6)^2 for two steps, ((5 + 3) / 6)^2 for three: the longer text gains.
TEST(BeamSearch, DividesByThePenaltyOfTheLength) {
  MarkovDecoder decoder = counting();
  const auto found =
      beam_search(decoder, decoder.start(1), tensor<Index>({1}), 10, {.beams = 2, .end_token = 0, .length_penalty = 2});
  EXPECT_NEAR(found.scores.at<double>({0, 0}), std::log(0.6) * 36 / 64, 1e-12);
  EXPECT_NEAR(found.scores.at<double>({0, 1}), std::log(0.4) * 36 / 49, 1e-12);
}

// Where fewer texts are possible than there are beams, minus infinity stays what it is, and the order is one.
TEST(BeamSearch, TakesPenaltiesUpToTen) {
  MarkovDecoder decoder = counting();
  const auto found = beam_search(decoder, decoder.start(1), tensor<Index>({1}), 10,
                                 {.beams = 3, .end_token = 0, .length_penalty = 10});
  EXPECT_NEAR(found.scores.at<double>({0, 0}), std::log(0.6) * std::pow(0.75, 10), 1e-12);
  EXPECT_NEAR(found.scores.at<double>({0, 1}), std::log(0.4) * std::pow(6.0 / 7, 10), 1e-12);
  EXPECT_EQ(found.scores.at<double>({0, 2}), -std::numeric_limits<double>::infinity());
  for (const double penalty : {-0.1, 10.1, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(static_cast<void>(beam_search(decoder, decoder.start(1), tensor<Index>({1}), 10,
                                               {.beams = 3, .end_token = 0, .length_penalty = penalty})),
                 ValueError)
        << penalty;
  }
}

TEST(BeamSearch, PutsEqualTextsInTheOrderOfTheirTokens) {
  MarkovDecoder decoder{zeros({5, 5})};
  const auto found = beam_search(decoder, decoder.start(1), tensor<Index>({1}), 2, {.beams = 3});
  EXPECT_TRUE(identical(found.tokens, tensor<Index>({0, 0, 0, 1, 0, 2}, {1, 3, 2})));
}

TEST(BeamSearch, KeepsRowsApart) {
  auto decoder = small_decoder(6);
  const Tensor start = tensor<Index>({1, 2, 5, 0}, {2, 2});
  const auto all = beam_search(decoder, decoder.cell.initial_carry({2, 2, 6}), start, 5, {.beams = 3});
  EXPECT_EQ(all.tokens.shape(), (Shape{2, 2, 3, 5}));
  const auto one = beam_search(decoder, decoder.cell.initial_carry({6}), scalar<Index>(5), 5, {.beams = 3});
  EXPECT_TRUE(identical(one.tokens, all.tokens[1][0]));
}

TEST(BeamSearch, RefusesWhatDoesNotFit) {
  MarkovDecoder decoder = counting();
  const auto start = tensor<Index>({1});
  const auto carry = MarkovDecoder::start(1);
  EXPECT_THROW(static_cast<void>(beam_search(decoder, carry, start, 3, {.beams = 0})), ValueError);
  EXPECT_THROW(static_cast<void>(beam_search(decoder, carry, start, 3, {.beams = Index{1} << 62})), ValueError);
  EXPECT_THROW(static_cast<void>(beam_search(decoder, carry, start, -3)), ValueError);
  EXPECT_THROW(static_cast<void>(beam_search(decoder, carry, start, 3, {.end_token = -1})), ValueError);
  EXPECT_THROW(static_cast<void>(beam_search(decoder, MarkovDecoder::start(2), start, 3)), ShapeError);
}

std::string search_error(MarkovDecoder decoder, const BeamSearchOptions& options = {}) {
  return support::message_of([&] {
    static_cast<void>(beam_search(decoder, MarkovDecoder::start(2), tensor<Index>({2, 1}), 9, options));
  });
}

TEST(BeamSearch, RefusesLogitsThatLeaveNothingToChoose) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(search_error(counting_with(3, std::nan("")), {.beams = 2, .end_token = 0}),
            "[beam_search] at step 1 the logit of token 0 is nan in row 0. Logits are numbers, or minus infinity for "
            "tokens that cannot follow.");
  EXPECT_EQ(search_error(counting_with(1, infinity), {.beams = 2, .end_token = 0}),
            "[beam_search] at step 0 the logit of token 0 is inf in row 1. Logits are numbers, or minus infinity for "
            "tokens that cannot follow.");
  EXPECT_EQ(search_error(counting_with(1, -infinity), {.beams = 2, .end_token = 0}),
            "[beam_search] at step 0 all logits of row 1 are minus infinity, so that no token can follow. Leave one, "
            "such as the end token.");
}

// With three beams some continue impossible texts, of any tokens.
TEST(BeamSearch, DoesNotMindTheLogitsOfTextsThatHaveEndedOrAreImpossible) {
  for (const Index beams : {1, 2, 3}) {
    EXPECT_EQ(search_error(counting_with(0, std::nan("")), {.beams = beams, .end_token = 0}), "");
  }
  MarkovDecoder decoder = counting_with(1, std::nan(""));  // 1 follows nothing
  const auto found = beam_search(decoder, decoder.start(1), tensor<Index>({2}), 10, {.beams = 4, .end_token = 0});
  EXPECT_NEAR(found.scores.at<double>({0, 0}), std::log(0.6), 1e-12);
  EXPECT_NEAR(found.scores.at<double>({0, 1}), std::log(0.4), 1e-12);
  EXPECT_EQ(found.scores.at<double>({0, 2}), -std::numeric_limits<double>::infinity());
}

TEST(BeamSearch, RefusesStartTokensThatNoIndexHolds) {
  MarkovDecoder decoder = counting();
  const Tensor start = tensor<std::uint64_t>({18446744073709551615U});
  EXPECT_EQ(support::message_of([&] { static_cast<void>(beam_search(decoder, MarkovDecoder::start(1), start, 3)); }),
            "[beam_search] the start token 18446744073709551615 is too large.");
}

}  // namespace
}  // namespace strata::recurrent
