// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/decoding/written_tokens.h"

#include <fmt/format.h>

#include <utility>

#include "strata/recurrent/internal/decoding/logit_checks.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/internal/integers.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"

namespace strata::recurrent::internal {
namespace {

// The tokens that were chosen, as int64.
Tensor checked_tokens(const Tensor& tokens, const Shape& batch, Index vocabulary) {
  if (!is_integer(tokens.dtype())) {
    throw DTypeError(fmt::format("[decode] chosen tokens are {}. Choose integers.", describe(tokens)));
  }
  if (tokens.shape() != batch) {
    throw ShapeError(fmt::format("[decode] chosen tokens are {}, but there are {} texts. Choose one for each.",
                                 describe(tokens), to_string(batch)));
  }
  strata::internal::for_each_integer(tokens, [&](auto token) {
    if (std::cmp_greater_equal(token, 0) && std::cmp_less(token, vocabulary)) return;
    throw ValueError(
        fmt::format("[decode] the chosen token {} is not in the vocabulary of {} tokens. Choose one from 0 to {}.",
                    token, vocabulary, vocabulary - 1));
  });
  return tokens.astype(DType::int64);
}

}  // namespace

WrittenTokens::WrittenTokens(const Tensor& start, Index max_steps, std::optional<Index> end_token)
    : max_steps_(max_steps),
      end_token_(end_token),
      last_(start),
      lengths_(zeros(start.shape(), DType::int64)),
      running_(ones(start.shape(), DType::boolean)) {
  if (max_steps < 0) throw ValueError(fmt::format("[decode] max_steps is {}. Give 0 or more.", max_steps));
  if (!is_integer(start.dtype())) {
    throw DTypeError(fmt::format("[decode] the start tokens are {}. Give integers.", describe(start)));
  }
}

bool WrittenTokens::ended() const {
  return static_cast<Index>(tokens_.size()) >= max_steps_ || !any(running_).item<bool>();
}

void WrittenTokens::add(Tensor logits, const std::function<Tensor(const Tensor&)>& choose) {
  const Shape& batch = lengths_.shape();
  check_logits(logits, batch, end_token_, "decode");
  check_next_tokens(logits, running_, 1, tokens_.size(), "decode");
  Tensor chosen = choose ? checked_tokens(choose(logits), batch, logits.size(-1)) : argmax(logits, -1);
  if (end_token_) {
    chosen = where(running_, chosen, full_like(chosen, *end_token_));
    running_ = logical_and(running_, not_equal(chosen, *end_token_));
  }
  lengths_ = lengths_ + running_.astype(DType::int64);
  last_ = chosen;
  tokens_.push_back(std::move(chosen));
  logits_.push_back(std::move(logits));
}

Tensor WrittenTokens::tokens() const {
  if (tokens_.empty()) return zeros(lengths_.shape().append({0}), DType::int64);
  return stack(tokens_, -1);
}

Tensor WrittenTokens::lengths() const { return lengths_; }

Tensor WrittenTokens::logits() const {
  if (logits_.empty()) return zeros(lengths_.shape().append({0, 0}));
  return stack(logits_, lengths_.rank());
}

}  // namespace strata::recurrent::internal
