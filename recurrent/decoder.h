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
// What it fixes for all steps of a text, such as a mask of dropout, it may make at the beginning, as cells do:
//
//   Sequence begin_sequence(const Carry& initial, const Shape& tokens);  // of tokens [*batch]; Sequence as in cell.h
//   rnn::Step<Carry> step(const Carry& carry, const Tensor& tokens, const Sequence& sequence);
//
// `decode` and `beam_search` run any decoder on its own outputs.
template <class D>
concept Decoder = requires(D& decoder, const typename D::Carry& carry, const Tensor& tokens) {
  { decoder.step(carry, tokens) } -> std::same_as<Step<typename D::Carry>>;
};

// A decoder that fixes something for whole texts.
template <class D>
concept SequenceDecoder = Decoder<D> &&
    requires(D& decoder, const typename D::Carry& carry, const Tensor& tokens, const typename D::Sequence& sequence) {
  { decoder.begin_sequence(carry, tokens.shape()) } -> std::same_as<typename D::Sequence>;
  { decoder.step(carry, tokens, sequence) } -> std::same_as<Step<typename D::Carry>>;
};

namespace internal {

// Begins texts, one for each of the tokens.
template <Decoder D>
auto begin_texts(D& decoder, const typename D::Carry& initial, const Shape& tokens) {
  if constexpr (SequenceDecoder<D>) {
    return decoder.begin_sequence(initial, tokens);
  } else {
    return NoSequence{};
  }
}

// One step of texts that were begun.
template <Decoder D, class Sequence>
Step<typename D::Carry> step_of_texts(D& decoder, const typename D::Carry& carry, const Tensor& tokens,
                                      const Sequence& sequence) {
  if constexpr (SequenceDecoder<D>) {
    return decoder.step(carry, tokens, sequence);
  } else {
    return decoder.step(carry, tokens);
  }
}

}  // namespace internal

// A cell over tokens, and a linear map from its outputs to logits. Tokens enter the cell as rows of a table, or,
// without one, as vectors of zeros with a one at the number of the token. Paths: `embed/...`, `cell/...`, `head/...`.
template <Cell C>
struct TokenDecoder {
  using Carry = typename C::Carry;
  using Sequence = SequenceOf<C>;

  std::optional<nn::Embed> embed;
  C cell;
  nn::Linear head;

  // The cell's inputs are as many as the vocabulary has tokens, which are the outputs of the head.
  TokenDecoder(C token_cell, nn::Linear token_head) : cell(std::move(token_cell)), head(std::move(token_head)) {}

  // The cell's inputs are as many as the table has features.
  TokenDecoder(nn::Embed token_embed, C token_cell, nn::Linear token_head)
      : embed(std::move(token_embed)), cell(std::move(token_cell)), head(std::move(token_head)) {}

  // One step that is a text by itself.
  [[nodiscard]] Step<Carry> step(const Carry& carry, const Tensor& tokens) {
    return step(carry, tokens, begin_sequence(carry, tokens.shape()));
  }

  [[nodiscard]] Step<Carry> step(const Carry& carry, const Tensor& tokens, const Sequence& sequence) {
    Step<Carry> step = recurrent::step(cell, carry, input(tokens), sequence);
    return {std::move(step.carry), head(step.y)};
  }

  [[nodiscard]] Sequence begin_sequence(const Carry& initial, const Shape& tokens) {
    const Index features = embed ? embed->embedding.value().size(-1) : head.kernel.value().size(-1);
    return recurrent::begin_sequence(cell, initial, tokens.append({features}));
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
