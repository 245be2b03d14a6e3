// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <strata/strata.h>

#include <string>
#include <variant>
#include <vector>

namespace vowels {

namespace rnn = strata::recurrent;

// Layers that read the frames of an utterance in both directions, one type for each cell.
using Encoder = std::variant<rnn::Bidirectional<rnn::LSTMCell>, rnn::Bidirectional<rnn::OptimizedLSTMCell>,
                             rnn::Bidirectional<rnn::GRUCell>, rnn::Bidirectional<rnn::MGUCell>,
                             rnn::Bidirectional<rnn::SimpleCell>, rnn::Bidirectional<rnn::LayerNormLSTMCell>>;

// What make_encoder knows: lstm, optimized_lstm, gru, mgu, simple, layer_norm_lstm.
[[nodiscard]] const std::vector<std::string>& cell_names();

// Throws strata::ValueError if there is no cell of that name.
[[nodiscard]] Encoder make_encoder(const std::string& cell, strata::Index channels, strata::Index hidden,
                                   strata::Rngs& rngs);

// Names the speaker of an utterance: what both directions of the encoder remember at their ends is normalised and
// mapped to one score for each speaker.
struct Classifier {
  Encoder encoder;
  strata::nn::BatchNorm norm;
  strata::nn::Dropout dropout;
  strata::nn::Linear head;

  Classifier(const std::string& cell, strata::Index channels, strata::Index hidden, strata::Index classes,
             double dropout_rate, strata::Rngs& rngs)
      : encoder{make_encoder(cell, channels, hidden, rngs)},
        norm{2 * hidden, rngs, {.momentum = 0.9}},
        dropout{dropout_rate, rngs},
        head{2 * hidden, classes, rngs} {}

  // Scores [batch, classes] of utterances x [batch, time, channels], padded, of which the first `lengths` [batch]
  // frames count.
  strata::Tensor operator()(const strata::Tensor& x, const strata::Tensor& lengths);

  // The same of utterances without padding.
  strata::Tensor operator()(const rnn::PackedSequence& x);

  STRATA_FIELDS(encoder, norm, dropout, head)
};

}  // namespace vowels
