// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "strata/nn/embed.h"
#include "strata/nn/linear.h"
#include "strata/recurrent/scan.h"
#include "strata/tensor/index.h"

// Cells that write a text: each step takes the token before and says how likely each token is to follow.
namespace strata::recurrent {

// A decoder is any type with
//
//   // tokens: integers [*batch]; y: logits [*batch, vocabulary]
//   rnn::Step<Carry> step(const Carry& carry, const Tensor& tokens);
//
// `decode` and `beam_search` run any decoder on its own outputs.
template <class D>
concept Decoder = requires(D& decoder, const typename D::Carry& carry, const Tensor& tokens) {
  { decoder.step(carry, tokens) } -> std::same_as<Step<typename D::Carry>>;
};

// A cell over tokens, and a linear map from its outputs to logits. Tokens enter the cell as rows of a table, or, without
// one, as vectors of zeros with a one at the number of the token. Paths: `embed/...`, `cell/...`, `head/...`.
template <Cell C>
struct TokenDecoder {
  using Carry = typename C::Carry;

  std::optional<nn::Embed> embed;
  C cell;
  nn::Linear head;

  // The cell's inputs are as many as the vocabulary has tokens, which are the outputs of the head.
  TokenDecoder(C token_cell, nn::Linear token_head) : cell(std::move(token_cell)), head(std::move(token_head)) {}

  // The cell's inputs are as many as the table has features.
  TokenDecoder(nn::Embed token_embed, C token_cell, nn::Linear token_head)
      : embed(std::move(token_embed)), cell(std::move(token_cell)), head(std::move(token_head)) {}

  [[nodiscard]] Step<Carry> step(const Carry& carry, const Tensor& tokens) {
    Step<Carry> step = cell(carry, input(tokens));
    return {std::move(step.carry), head(step.y)};
  }

  // Teacher forcing: the logits of all steps, [*batch, time, vocabulary], where each step takes the token that is given
  // rather than the one it would choose. tokens are integers [*batch, time] or as the options say. Errors are those of
  // recurrent::scan; ValueError if a token is not in the vocabulary.
  [[nodiscard]] ScanResult<Carry> scan(const Tensor& tokens, const ScanOptions<Carry>& options = {}) {
    ScanResult<Carry> result = recurrent::scan(cell, input(tokens), options);
    return {std::move(result.carry), head(result.y)};
  }

  STRATA_FIELDS(embed, cell, head)

 private:
  [[nodiscard]] Tensor input(const Tensor& tokens) const {
    const Tensor& kernel = head.kernel;
    return embed ? (*embed)(tokens) : one_hot(tokens, kernel.size(-1), kernel.dtype());
  }
};

}  // namespace strata::recurrent
