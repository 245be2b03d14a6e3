// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/tensor/tensor.h"

// What a decoder may return. Errors start with `[operation]`.
namespace strata::recurrent::internal {

// Throws ShapeError, DTypeError or ValueError unless logits are [*batch, vocabulary], floating, and the end token is in
// the vocabulary.
void check_logits(const Tensor& logits, const Shape& batch, const std::optional<Index>& end_token,
                  const char* operation);

// Throws ValueError unless a token can follow each of the texts [*batch] that are `running`: none of its logits is NaN
// or infinity, and one at least is not minus infinity. Each row of the caller's batch has `texts_per_row` of them.
void check_next_tokens(const Tensor& logits, const Tensor& running, Index texts_per_row, std::size_t step,
                       const char* operation);

}  // namespace strata::recurrent::internal
