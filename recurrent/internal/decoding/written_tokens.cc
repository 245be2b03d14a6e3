// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/decoding/written_tokens.h"

#include <fmt/format.h>

#include <utility>

#include "strata/recurrent/internal/scan/row_masks.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"

namespace strata::recurrent::internal {
namespace {

Tensor checked_tokens(const Tensor& tokens, const Shape& batch) {
  if (!is_integer(tokens.dtype())) {
    throw DTypeError(fmt::format("[decode] chosen tokens are {}. Choose integers.", describe(tokens)));
  }
  if (tokens.shape() != batch) {
    throw ShapeError(fmt::format("[decode] chosen tokens are {}, but there are {} texts. Choose one for each.",
                                 describe(tokens), to_string(batch)));
  }
  return tokens.astype(DType::int64);
}

}  // namespace

void check_logits(const Tensor& logits, const Shape& batch, const std::optional<Index>& end_token,
                  const char* operation) {
  if (logits.rank() != batch.rank() + 1 || logits.shape().axes(0, batch.rank()) != batch || logits.size(-1) == 0) {
    throw ShapeError(fmt::format("[{}] the decoder's logits are {}, expected {} followed by the vocabulary.", operation,
                                 describe(logits), to_string(batch)));
  }
  if (!is_floating(logits.dtype())) {
    throw DTypeError(
        fmt::format("[{}] the decoder's logits are {}, expected floating numbers.", operation, describe(logits)));
  }
  if (end_token && (*end_token < 0 || *end_token >= logits.size(-1))) {
    throw ValueError(fmt::format("[{}] the end token {} is not in the vocabulary of {} tokens.", operation, *end_token,
                                 logits.size(-1)));
  }
}

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
  Tensor chosen = choose ? checked_tokens(choose(logits), batch) : argmax(logits, -1).astype(DType::int64);
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
