// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "strata/tensor/tensor.h"

namespace strata::recurrent::internal {

// The tokens of `decode`, as they come.
class WrittenTokens {
 public:
  WrittenTokens(const Tensor& start, Index max_steps, std::optional<Index> end_token);

  // The tokens that the next step takes, [*batch].
  [[nodiscard]] const Tensor& last() const noexcept { return last_; }

  // True if every text has ended, or there are as many steps as there may be.
  [[nodiscard]] bool ended() const;

  // Chooses by `choose`, or the likeliest if that is empty. Throws what `decode` throws, and then adds nothing.
  void add(Tensor logits, const std::function<Tensor(const Tensor&)>& choose);

  [[nodiscard]] Tensor tokens() const;   // int64 [*batch, steps]
  [[nodiscard]] Tensor lengths() const;  // int64 [*batch]
  // [*batch, steps, vocabulary]; without a step there is no vocabulary to know: [*batch, 0, 0]
  [[nodiscard]] Tensor logits() const;

 private:
  Index max_steps_;
  std::optional<Index> end_token_;
  Tensor last_;
  Tensor lengths_;  // of what is written so far
  Tensor running_;  // bool [*batch]: no end token yet
  std::vector<Tensor> tokens_;
  std::vector<Tensor> logits_;
};

}  // namespace strata::recurrent::internal
