// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/tensor/tensor.h"

namespace strata::recurrent {

struct BeamSearchOptions {
  Index beams = 4;
  std::optional<Index> end_token = {};  // that ends a text; by default none does
  // Texts are ranked by their log-probability, divided by ((5 + steps) / 6)^length_penalty: 0 favours short texts, 0.6
  // to 1 is common in translation. Wu et al., "Google's neural machine translation system" (2016), equation 14.
  double length_penalty = 0;
};

// The texts that were found, the best first, in as many steps as the longest needed.
struct BeamSearchResult {
  Tensor tokens;   // int64 [*batch, beams, steps]; behind an end token further ones
  Tensor lengths;  // int64 [*batch, beams], tokens before the end token
  Tensor scores;   // float64 [*batch, beams]; minus infinity where there are fewer texts than beams
};

namespace internal {

// The beginnings of texts that a search keeps. The decoder sees them as one batch, [rows * beams].
class Beams {
 public:
  Beams(const Tensor& start, Index max_steps, const BeamSearchOptions& options);

  [[nodiscard]] bool ended() const;

  // The tokens that the next step takes, [rows * beams].
  [[nodiscard]] Tensor last() const;

  // A part of a carry, [*batch, ...], once for each beam: [rows * beams, ...]. Throws ShapeError that names it.
  [[nodiscard]] Tensor spread(const std::string& name, const Tensor& part) const;

  // Keeps the best continuations by the decoder's logits, [rows * beams, vocabulary].
  void advance(const Tensor& logits);

  // A part of the carry, rows put to the texts that continue them.
  [[nodiscard]] Tensor follow(const Tensor& part) const;

  [[nodiscard]] BeamSearchResult result() const;

 private:
  struct Text {
    double log_probability;
    double score;
    Index steps;  // the end token included
    bool ended;
  };
  // What a step chose: a token for each text, [rows * beams], and the text that it continues.
  struct Choice {
    std::vector<Index> tokens;
    std::vector<Index> sources;
  };
  struct Continuation {
    Index source;  // the text, among all
    Index token;
    Text text;
  };

  [[nodiscard]] double score(double log_probability, Index steps) const;
  [[nodiscard]] std::vector<Continuation> best_continuations(Index row, const double* log_probabilities,
                                                             Index vocabulary) const;

  Shape batch_;
  Index rows_;
  Index max_steps_;
  BeamSearchOptions options_;
  std::vector<Text> texts_;   // [rows * beams]
  std::vector<Index> last_;   // [rows * beams]
  std::vector<Choice> past_;  // of each step
};

}  // namespace internal
}  // namespace strata::recurrent
