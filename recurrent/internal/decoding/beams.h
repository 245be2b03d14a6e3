// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/tensor/tensor.h"

namespace strata::recurrent {

struct BeamSearchOptions;
struct BeamSearchResult;

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

  // True if something may follow: the text has not ended, and is possible.
  [[nodiscard]] static bool goes_on(const Text& text);
  [[nodiscard]] double penalty(Index steps) const;
  [[nodiscard]] std::vector<Continuation> best_continuations(Index row, const double* log_probabilities,
                                                             Index vocabulary) const;

  Shape batch_;
  Index rows_;
  Index max_steps_;
  Index beams_;
  std::optional<Index> end_token_;
  double length_penalty_;
  std::vector<Text> texts_;   // [rows * beams]
  std::vector<Index> last_;   // [rows * beams]
  std::vector<Choice> past_;  // of each step
};

}  // namespace internal
}  // namespace strata::recurrent
