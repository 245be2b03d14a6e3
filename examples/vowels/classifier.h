// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <strata/strata.h>

namespace vowels {

// Names the speaker of an utterance: a bidirectional LSTM reads its frames, and what both directions remember at their
// end is normalised and mapped to one score for each speaker.
struct Classifier {
  strata::recurrent::Bidirectional<strata::recurrent::LSTMCell> encoder;
  strata::nn::BatchNorm norm;
  strata::nn::Dropout dropout;
  strata::nn::Linear head;

  Classifier(strata::Index channels, strata::Index hidden, strata::Index classes, double dropout_rate,
             strata::Rngs& rngs)
      : encoder{strata::recurrent::LSTMCell{channels, hidden, rngs},
                strata::recurrent::LSTMCell{channels, hidden, rngs}},
        norm{2 * hidden, rngs, {.momentum = 0.9}},
        dropout{dropout_rate, rngs},
        head{2 * hidden, classes, rngs} {}

  // Scores [batch, classes] of utterances x [batch, time, channels], padded, of which the first `lengths` [batch]
  // frames count.
  strata::Tensor operator()(const strata::Tensor& x, const strata::Tensor& lengths) {
    const auto [carry, y] = encoder.scan(x, {.seq_lengths = lengths});
    return head(dropout(norm(strata::concatenate({carry.forward.h, carry.backward.h}, -1))));
  }

  STRATA_FIELDS(encoder, norm, dropout, head)
};

}  // namespace vowels
