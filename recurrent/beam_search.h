// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "strata/recurrent/decoder.h"
#include "strata/recurrent/internal/decoding/beams.h"

namespace strata::recurrent {

struct BeamSearchOptions {
  Index beams = 4;
  std::optional<Index> end_token = {};  // that ends a text; by default none does
  // From 0 to 10. Texts are ranked by their log-probability, divided by ((5 + steps) / 6)^length_penalty: 0 favours
  // short texts, 0.6 to 1 is common in translation. Wu et al., "Google's neural machine translation system" (2016),
  // equation 14.
  double length_penalty = 0;
  bool operator==(const BeamSearchOptions&) const = default;
};

// The texts that were found, the best first, in as many steps as the longest needed.
struct BeamSearchResult {
  Tensor tokens;   // int64 [*batch, beams, steps]; behind an end token further ones
  Tensor lengths;  // int64 [*batch, beams], tokens before the end token
  Tensor scores;   // float64 [*batch, beams]; minus infinity where there are fewer texts than beams
};

// Finds likely texts: runs a decoder on its own outputs and keeps, for each row of the batch, the `beams` best
// beginnings of texts. `start` are integers [*batch]; the parts of the carry are [*batch, ...]. Ends when all that are
// kept have ended, after `max_steps` steps at the latest. With one beam it is `decode`; with as many as there are texts
// it finds the best of all. Nothing is differentiable.
//
// Throws ValueError if max_steps, beams or the penalty are out of range, the end token is not in the vocabulary, or
// logits are what `decode` refuses; ShapeError or DTypeError if logits or carry do not fit.
template <Decoder D>
[[nodiscard]] BeamSearchResult beam_search(D& decoder, const typename D::Carry& carry, const Tensor& start,
                                           Index max_steps, const BeamSearchOptions& options = {}) {
  internal::Beams beams(start, max_steps, options);
  typename D::Carry of_beams = carry;
  const auto spread = [&](const std::string& name, Tensor& part) { part = beams.spread(name, part); };
  internal::for_each_tensor(spread, "", of_beams);
  // What is fixed for a row is the same for all its beams, which may thus take over each other's texts.
  auto sequence = internal::begin_texts(decoder, carry, start.shape());
  internal::for_each_tensor(spread, "", sequence);
  while (!beams.ended()) {
    Step<typename D::Carry> step = internal::step_of_texts(decoder, std::as_const(of_beams), beams.last(), sequence);
    beams.advance(step.y);
    of_beams = std::move(step.carry);
    internal::for_each_tensor([&](const std::string&, Tensor& part) { part = beams.follow(part); }, "", of_beams);
  }
  return beams.result();
}

}  // namespace strata::recurrent
