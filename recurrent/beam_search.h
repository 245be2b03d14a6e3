// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "strata/recurrent/decoder.h"
#include "strata/recurrent/internal/beams.h"

namespace strata::recurrent {

// Finds likely texts: runs a decoder on its own outputs and keeps, for each row of the batch, the `beams` best beginnings
// of texts. `start` are integers [*batch]; the parts of the carry are [*batch, ...]. Ends when all that are kept have
// ended, after `max_steps` steps at the latest. With one beam it is `decode`; with as many as there are texts it finds
// the best of all. Nothing is differentiable.
//
// Throws ValueError if max_steps or beams are out of range, the end token is not in the vocabulary or logits are NaN,
// ShapeError or DTypeError if logits or carry do not fit.
template <Decoder D>
[[nodiscard]] BeamSearchResult beam_search(D& decoder, const typename D::Carry& carry, const Tensor& start,
                                           Index max_steps, const BeamSearchOptions& options = {}) {
  internal::Beams beams(start, max_steps, options);
  typename D::Carry of_beams = carry;
  const auto spread = [&](const std::string& name, Tensor& part) { part = beams.spread(name, part); };
  internal::for_each_tensor(spread, "", of_beams);
  while (!beams.ended()) {
    Step<typename D::Carry> step = decoder.step(std::as_const(of_beams), beams.last());
    beams.advance(step.y);
    of_beams = std::move(step.carry);
    internal::for_each_tensor([&](const std::string&, Tensor& part) { part = beams.follow(part); }, "", of_beams);
  }
  return beams.result();
}

}  // namespace strata::recurrent
