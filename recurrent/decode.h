// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "strata/recurrent/decoder.h"
#include "strata/recurrent/internal/decoding/written_tokens.h"

namespace strata::recurrent {

struct DecodeOptions {
  std::optional<Index> end_token = {};  // that ends a text; by default none does
  // Chooses a token for every row of logits [*batch, vocabulary]; by default the likeliest. To draw them, each time
  // with another key: [&](const Tensor& logits) { return random::categorical(rngs.draw("tokens"), logits); }
  std::function<Tensor(const Tensor& logits)> choose = {};
};

// What a decoder wrote, in as many steps as the longest text needed.
template <class Carry>
struct Decoded {
  Carry carry;     // after the last step
  Tensor tokens;   // int64 [*batch, steps]; behind an end token further ones
  Tensor lengths;  // int64 [*batch], tokens before the end token
  Tensor logits;   // [*batch, steps, vocabulary], before each choice
};

// Runs a decoder on its own outputs: each step takes the token that the step before chose, the first one `start`,
// integers [*batch]. Ends when every text has ended, after `max_steps` steps at the latest. Logits and carry are
// differentiable through the carry; the choice is not.
//
// Throws ValueError if max_steps is negative, the end token or a chosen one is not in the vocabulary, or of a text that
// has not ended a logit is NaN or infinite or all of them are minus infinity; ShapeError or DTypeError if logits or
// chosen tokens do not fit. The logit of a token that cannot follow is minus infinity. Steps are counted from 0.
template <Decoder D>
[[nodiscard]] Decoded<typename D::Carry> decode(D& decoder, typename D::Carry carry, const Tensor& start,
                                                Index max_steps, const DecodeOptions& options = {}) {
  internal::WrittenTokens written(start, max_steps, options.end_token);
  const auto sequence = internal::begin_texts(decoder, std::as_const(carry), start.shape());
  while (!written.ended()) {
    Step<typename D::Carry> step = internal::step_of_texts(decoder, std::as_const(carry), written.last(), sequence);
    written.add(std::move(step.y), options.choose);
    carry = std::move(step.carry);
  }
  return {std::move(carry), written.tokens(), written.lengths(), written.logits()};
}

}  // namespace strata::recurrent
