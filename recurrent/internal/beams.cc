// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/beams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "strata/recurrent/internal/written_tokens.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/index.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent::internal {
namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();

Tensor tensor_of(const std::vector<Index>& values, const Shape& shape) {
  return Tensor(std::span<const Index>(values), shape);
}

}  // namespace

Beams::Beams(const Tensor& start, Index max_steps, const BeamSearchOptions& options)
    : batch_(start.shape()), rows_(start.size()), max_steps_(max_steps), options_(options) {
  if (max_steps < 0) throw ValueError(fmt::format("[beam_search] max_steps is {}. Give 0 or more.", max_steps));
  if (options.beams < 1)
    throw ValueError(fmt::format("[beam_search] there are {} beams. Give 1 or more.", options.beams));
  if (!(options.length_penalty >= 0 && std::isfinite(options.length_penalty))) {
    throw ValueError(
        fmt::format("[beam_search] the length penalty is {}. Give a number from 0 on.", options.length_penalty));
  }
  if (!is_integer(start.dtype())) {
    throw DTypeError(fmt::format("[beam_search] the start tokens are {}. Give integers.", describe(start)));
  }
  const Tensor tokens = start.astype(DType::int64);
  for (const Index token : tokens.data<Index>()) {
    for (Index beam = 0; beam < options.beams; ++beam) {
      // All beams of a row begin alike: only one of them counts, lest all of them continue alike.
      const double log_probability = beam == 0 ? 0 : impossible;
      texts_.push_back({log_probability, log_probability, 0, false});
      last_.push_back(token);
    }
  }
}

bool Beams::ended() const {
  return static_cast<Index>(past_.size()) >= max_steps_ ||
         std::all_of(texts_.begin(), texts_.end(),
                     [](const Text& text) { return text.ended || text.log_probability == impossible; });
}

Tensor Beams::last() const { return tensor_of(last_, {rows_ * options_.beams}); }

Tensor Beams::spread(const std::string& name, const Tensor& part) const {
  if (part.rank() < batch_.rank() || part.shape().axes(0, batch_.rank()) != batch_) {
    throw ShapeError(fmt::format("[beam_search] the part `{}` of the carry is {}, but there are start tokens for {}.",
                                 name, describe(part), to_string(batch_)));
  }
  const Shape rest = part.shape().axes(batch_.rank(), part.rank());
  return repeat(part.reshape(Shape{rows_}.append(rest)), options_.beams, 0);
}

double Beams::score(double log_probability, Index steps) const {
  return log_probability / std::pow((5.0 + static_cast<double>(steps)) / 6.0, options_.length_penalty);
}

std::vector<Beams::Continuation> Beams::best_continuations(Index row, const double* log_probabilities,
                                                           Index vocabulary) const {
  const Index beams = options_.beams;
  std::vector<Continuation> all;
  for (Index source = row * beams; source < (row + 1) * beams; ++source) {
    const Text& text = texts_[static_cast<std::size_t>(source)];
    if (text.ended) {
      all.push_back({source, *options_.end_token, text});
      continue;
    }
    for (Index token = 0; token < vocabulary; ++token) {
      const double log_probability = text.log_probability + log_probabilities[source * vocabulary + token];
      const Index steps = text.steps + 1;
      all.push_back(
          {source, token, {log_probability, score(log_probability, steps), steps, token == options_.end_token}});
    }
  }
  // Of equal ones the first in the order of texts and tokens, so that results do not depend on how sorting is done.
  const auto better = [](const Continuation& a, const Continuation& b) {
    if (a.text.score != b.text.score) return a.text.score > b.text.score;
    return std::pair(a.source, a.token) < std::pair(b.source, b.token);
  };
  const auto kept = std::min<std::size_t>(all.size(), static_cast<std::size_t>(beams));
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), better);
  all.resize(kept);
  return all;
}

void Beams::advance(const Tensor& logits) {
  const Index count = rows_ * options_.beams;
  check_logits(logits, {count}, options_.end_token, "beam_search");
  const Tensor log_probabilities = log_softmax(stop_gradient(logits).astype(DType::float64));
  const std::span<const double> values = log_probabilities.data<double>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) throw ValueError("[beam_search] the decoder's logits are not numbers (NaN).");
  }
  std::vector<Text> texts;
  Choice choice;
  for (Index row = 0; row < rows_; ++row) {
    for (const Continuation& next : best_continuations(row, values.data(), logits.size(-1))) {
      texts.push_back(next.text);
      choice.tokens.push_back(next.token);
      choice.sources.push_back(next.source);
    }
  }
  texts_ = std::move(texts);
  last_ = choice.tokens;
  past_.push_back(std::move(choice));
}

Tensor Beams::follow(const Tensor& part) const {
  return take(part, tensor_of(past_.back().sources, {rows_ * options_.beams}), 0);
}

BeamSearchResult Beams::result() const {
  const std::size_t steps = past_.size();
  std::vector<Index> tokens(texts_.size() * steps);
  std::vector<Index> lengths;
  std::vector<double> scores;
  for (std::size_t text = 0; text < texts_.size(); ++text) {
    std::size_t at = text;
    for (std::size_t step = steps; step-- > 0;) {
      tokens[text * steps + step] = past_[step].tokens[at];
      at = static_cast<std::size_t>(past_[step].sources[at]);
    }
    lengths.push_back(texts_[text].ended ? texts_[text].steps - 1 : texts_[text].steps);
    scores.push_back(texts_[text].score);
  }
  const Shape shape = batch_.append({options_.beams});
  return {tensor_of(tokens, shape.append({static_cast<Index>(steps)})), tensor_of(lengths, shape),
          Tensor(std::span<const double>(scores), shape)};
}

}  // namespace strata::recurrent::internal
