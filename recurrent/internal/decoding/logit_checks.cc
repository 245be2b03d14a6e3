// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/decoding/logit_checks.h"

#include <fmt/format.h>

#include <limits>

#include "strata/tensor/error.h"

namespace strata::recurrent::internal {

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

void check_next_tokens(const Tensor& logits, const Tensor& running, Index texts_per_row, std::size_t step,
                       const char* operation) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Index vocabulary = logits.size(-1);
  const std::span<const bool> is_running = running.data<bool>();
  const auto check_text = [&](Index text, const auto* text_logits) {
    bool can_go_on = false;
    for (Index token = 0; token < vocabulary; ++token) {
      const auto logit = convert_element<double>(text_logits[token]);
      can_go_on = can_go_on || logit > -infinity;
      if (logit < infinity) continue;
      throw ValueError(
          fmt::format("[{}] at step {} the logit of token {} is {} in row {}. Logits are numbers, or "
                      "minus infinity for tokens that cannot follow.",
                      operation, step, token, logit > 0 ? "inf" : "nan", text / texts_per_row));
    }
    if (can_go_on) return;
    throw ValueError(
        fmt::format("[{}] at step {} all logits of row {} are minus infinity, so that no token can "
                    "follow. Leave one, such as the end token.",
                    operation, step, text / texts_per_row));
  };
  dispatch(logits.dtype(), [&]<class T>(T) {
    const T* const first = logits.data<T>().data();
    for (Index text = 0; text < running.size(); ++text) {
      if (is_running[static_cast<std::size_t>(text)]) check_text(text, first + text * vocabulary);
    }
  });
}

}  // namespace strata::recurrent::internal
