// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/decoding/beams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "strata/recurrent/beam_search.h"
#include "strata/recurrent/internal/decoding/logit_checks.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/index.h"
#include "strata/tensor/internal/integers.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent::internal {
namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();

Tensor tensor_of(const std::vector<Index>& values, const Shape& shape) {
  return Tensor(std::span<const Index>(values), shape);
}

}  // namespace

Beams::Beams(const Tensor& start, Index max_steps, const BeamSearchOptions& options)
    : batch_(start.shape()),
      rows_(start.size()),
      max_steps_(max_steps),
      beams_(options.beams),
      end_token_(options.end_token),
      length_penalty_(options.length_penalty) {
  if (max_steps < 0) throw ValueError(fmt::format("[beam_search] max_steps is {}. Give 0 or more.", max_steps));
  constexpr Index most_beams = 1'000'000;
  if (options.beams < 1 || options.beams > most_beams) {
    throw ValueError(fmt::format("[beam_search] there are {} beams. Give 1 to {}.", options.beams, most_beams));
  }
  // Up to here the powers of all lengths are finite.
  if (!(options.length_penalty >= 0 && options.length_penalty <= 10)) {
    throw ValueError(
        fmt::format("[beam_search] the length penalty is {}. Give a number from 0 to 10.", options.length_penalty));
  }
  if (!is_integer(start.dtype())) {
    throw DTypeError(fmt::format("[beam_search] the start tokens are {}. Give integers.", describe(start)));
  }
  strata::internal::for_each_integer(start, [&](auto token) {
    if (!std::in_range<Index>(token)) {
      throw ValueError(fmt::format("[beam_search] the start token {} is too large.", token));
    }
    for (Index beam = 0; beam < options.beams; ++beam) {
      // All beams of a row begin alike: only one of them counts, lest all of them continue alike.
      const double log_probability = beam == 0 ? 0 : impossible;
      texts_.push_back({log_probability, log_probability, 0, false});
      last_.push_back(static_cast<Index>(token));
    }
  });
}

bool Beams::ended() const {
  return static_cast<Index>(past_.size()) >= max_steps_ || std::none_of(texts_.begin(), texts_.end(), goes_on);
}

bool Beams::goes_on(const Text& text) { return !text.ended && text.log_probability > impossible; }

Tensor Beams::last() const { return tensor_of(last_, {rows_ * beams_}); }

Tensor Beams::spread(const std::string& name, const Tensor& part) const {
  if (part.rank() < batch_.rank() || part.shape().axes(0, batch_.rank()) != batch_) {
    throw ShapeError(fmt::format("[beam_search] the part `{}` of the carry is {}, but there are start tokens for {}.",
                                 name, describe(part), to_string(batch_)));
  }
  const Shape rest = part.shape().axes(batch_.rank(), part.rank());
  return repeat(part.reshape(Shape{rows_}.append(rest)), beams_, 0);
}

double Beams::penalty(Index steps) const { return std::pow((5.0 + static_cast<double>(steps)) / 6.0, length_penalty_); }

std::vector<Beams::Continuation> Beams::best_continuations(Index row, const double* log_probabilities,
                                                           Index vocabulary) const {
  // Of equal ones the first in the order of texts and tokens, so that results do not depend on how sorting is done.
  const auto better = [](const Continuation& a, const Continuation& b) {
    if (a.text.score != b.text.score) return a.text.score > b.text.score;
    return std::pair(a.source, a.token) < std::pair(b.source, b.token);
  };
  std::vector<Continuation> best;  // a heap with the worst in front
  const auto offer = [&](const Continuation& next) {
    if (static_cast<Index>(best.size()) == beams_) {
      if (!better(next, best.front())) return;
      std::pop_heap(best.begin(), best.end(), better);
      best.pop_back();
    }
    best.push_back(next);
    std::push_heap(best.begin(), best.end(), better);
  };
  for (Index source = row * beams_; source < (row + 1) * beams_; ++source) {
    const Text& text = texts_[static_cast<std::size_t>(source)];
    if (text.ended) {
      offer({source, *end_token_, text});
      continue;
    }
    const Index steps = text.steps + 1;
    const double divisor = penalty(steps);
    for (Index token = 0; token < vocabulary; ++token) {
      // What the logits of an impossible text are does not matter: they may be NaN.
      const double log_probability =
          goes_on(text) ? text.log_probability + log_probabilities[source * vocabulary + token] : impossible;
      offer({source, token, {log_probability, log_probability / divisor, steps, token == end_token_}});
    }
  }
  std::sort_heap(best.begin(), best.end(), better);
  return best;
}

void Beams::advance(const Tensor& logits) {
  const Index count = rows_ * beams_;
  check_logits(logits, {count}, end_token_, "beam_search");
  Tensor running = Tensor::uninitialized({count}, DType::boolean);
  std::transform(texts_.begin(), texts_.end(), running.mutable_data<bool>().begin(), goes_on);
  check_next_tokens(logits, running, beams_, past_.size(), "beam_search");
  const Tensor log_probabilities = log_softmax(stop_gradient(logits).astype(DType::float64));
  const std::span<const double> values = log_probabilities.data<double>();
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
  return take(part, tensor_of(past_.back().sources, {rows_ * beams_}), 0);
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
  const Shape shape = batch_.append({beams_});
  return {tensor_of(tokens, shape.append({static_cast<Index>(steps)})), tensor_of(lengths, shape),
          Tensor(std::span<const double>(scores), shape)};
}

}  // namespace strata::recurrent::internal
