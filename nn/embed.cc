// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/embed.h"

#include <limits>
#include <utility>

#include "strata/nn/internal/layer.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/error.h"
#include "strata/tensor/index.h"
#include "strata/tensor/internal/integers.h"
#include "strata/tensor/linear_algebra.h"
#include "strata/tensor/manipulate.h"

namespace strata::nn {
namespace {

Shape table_shape(Index num_embeddings, Index features) {
  internal::check_positive(num_embeddings, "num_embeddings", "Embed");
  internal::check_positive(features, "features", "Embed");
  return {num_embeddings, features};
}

// Row numbers in [0, count), int64; row 0 in place of those that do not exist.
struct Rows {
  Tensor numbers;
  Tensor exists;  // bool
  bool all_exist = true;
};

Rows resolve(const Tensor& indices, Index count) {
  Rows rows{Tensor::uninitialized(indices.shape(), DType::int64),
            Tensor::uninitialized(indices.shape(), DType::boolean)};
  Index* number = rows.numbers.mutable_data<Index>().data();
  bool* exists = rows.exists.mutable_data<bool>().data();
  strata::internal::for_each_integer(indices, [&](auto value) {
    const bool valid = std::cmp_greater_equal(value, -count) && std::cmp_less(value, count);
    const auto index = static_cast<Index>(value);
    *number++ = !valid ? 0 : index < 0 ? index + count : index;
    *exists++ = valid;
    rows.all_exist = rows.all_exist && valid;
  });
  return rows;
}

}  // namespace

Embed::Embed(Index num_embeddings, Index features, Rngs& rngs, const EmbedOptions& options)
    : embedding(internal::make_param(options.embedding_init, rngs, table_shape(num_embeddings, features),
                                     options.param_dtype)),
      dtype(options.dtype) {}

Tensor Embed::operator()(const Tensor& indices) const {
  if (!is_integer(indices.dtype())) {
    throw DTypeError("[Embed] indices are " + describe(indices) + "; it takes integers. Convert with astype.");
  }
  const Tensor table = embedding.value().astype(internal::layer_dtype(dtype, {&embedding.value()}, "Embed"));
  const Index count = table.size(0);
  if (count == 1) return broadcast_to(table, indices.shape().append(table.shape().axes(1, 2)));
  const Rows rows = resolve(indices, count);
  Tensor result = take(table, rows.numbers, 0);
  if (rows.all_exist) return result;
  return where(expand_dims(rows.exists, -1), result, std::numeric_limits<double>::quiet_NaN());
}

Tensor Embed::attend(const Tensor& query) const {
  internal::check_features(query, embedding.value().size(1), "Embed::attend");
  const DType computing = internal::layer_dtype(dtype, {&query, &embedding.value()}, "Embed::attend");
  return matmul(query.astype(computing), transpose(embedding.value().astype(computing)));
}

}  // namespace strata::nn
