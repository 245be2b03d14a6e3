// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/nn/initializers.h"
#include "strata/state/rngs.h"
#include "strata/state/variable.h"

namespace strata::nn {

struct EmbedOptions {
  Initializer embedding_init = initializers::variance_scaling(1, initializers::FanMode::fan_in,
                                                              initializers::Distribution::normal, {.out = {0}});
  std::optional<DType> dtype = {};  // to compute in; by default the type of the embedding
  DType param_dtype = DType::float32;
};

// A table with one row of features for each of some numbers.
//
// Paths and values agree with flax.nnx.Embed 0.12.
struct Embed {
  // Draws from the stream `params`. Throws ShapeError if a size is not positive.
  Embed(Index num_embeddings, Index features, Rngs& rngs, const EmbedOptions& options = {});

  // The rows that the numbers name: indices are integers [*batch], the result is [*batch, features]. Negative numbers
  // count from the end; for a number out of range the row is NaN and gets no gradient. A table of one row gives that
  // row for every number. Throws DTypeError if the indices are not integers.
  [[nodiscard]] Tensor operator()(const Tensor& indices) const;

  // The inner products of queries [*batch, features] with all rows, [*batch, num_embeddings]: logits that share the
  // table. Throws ShapeError if the last axis does not fit.
  [[nodiscard]] Tensor attend(const Tensor& query) const;

  Param embedding;  // [num_embeddings, features], normal with variance 1 / features
  std::optional<DType> dtype;

  STRATA_FIELDS(embedding, dtype)
};

}  // namespace strata::nn
