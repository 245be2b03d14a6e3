// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <strata/strata.h>

#include "sums.h"

namespace addition {

namespace nn = strata::nn;
namespace rnn = strata::recurrent;

// Reads a question and writes its answer: the carry of the encoder is that with which the decoder begins.
struct Adder {
  rnn::RNN<rnn::LSTMCell> encoder;
  rnn::TokenDecoder<rnn::LSTMCell> decoder;

  Adder(strata::Index hidden, strata::Rngs& rngs)
      : encoder{rnn::LSTMCell{vocabulary, hidden, rngs}},
        decoder{rnn::LSTMCell{vocabulary, hidden, rngs}, nn::Linear{hidden, vocabulary, rngs}} {}

  [[nodiscard]] rnn::LSTMCarry read(const Sums& sums) {
    return encoder.scan(strata::one_hot(sums.questions, vocabulary), {.seq_lengths = sums.lengths}).carry;
  }

  // The logits of all steps where the decoder is told each token of the answer after it chose: [sum, step, vocabulary].
  [[nodiscard]] strata::Tensor forced(const Sums& sums) {
    const strata::Tensor before = strata::full({sums.size(), 1}, end, strata::DType::int64);
    const strata::Tensor told = strata::slice_axis(sums.answers, 1, 0, -1);
    return decoder.scan(strata::concatenate({before, told}, 1), {.initial_carry = read(sums)}).y;
  }

  // The answers that it writes itself, int64 [sum, step].
  [[nodiscard]] strata::Tensor write(const Sums& sums) {
    return rnn::decode(decoder, read(sums), start(sums), sums.answers.size(1)).tokens;
  }

  // The likeliest of the answers that a search finds.
  [[nodiscard]] strata::Tensor search(const Sums& sums, strata::Index beams) {
    const auto found =
        rnn::beam_search(decoder, read(sums), start(sums), sums.answers.size(1), {.beams = beams, .end_token = end});
    return strata::squeeze(strata::slice_axis(found.tokens, 1, 0, 1), 1);
  }

  STRATA_FIELDS(encoder, decoder)

 private:
  [[nodiscard]] static strata::Tensor start(const Sums& sums) {
    return strata::full({sums.size()}, end, strata::DType::int64);
  }
};

}  // namespace addition
