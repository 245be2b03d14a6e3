// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/carry_history.h"

#include "strata/tensor/dtype.h"
#include "strata/tensor/error.h"

namespace strata::recurrent::internal {

void check_batched_part(const std::string& part, const Tensor& value, const Shape& batch) {
  if (value.rank() >= batch.rank() && value.shape().axes(0, batch.rank()) == batch) return;
  throw ShapeError("[carry_history] part `" + part + "` of the initial carry is " + describe(value) +
                   ", expected the batch axes " + to_string(batch) + " first.");
}

Tensor side_by_side(std::span<const Tensor> parts, const Shape& batch) {
  DType dtype = DType::boolean;
  for (const Tensor& part : parts) dtype = promote(dtype, part.dtype());
  std::vector<Tensor> columns{zeros(batch.append({0}), dtype)};
  for (const Tensor& part : parts) {
    const Index count = part.shape().axes(batch.rank(), part.rank()).num_elements();
    columns.push_back(part.reshape(batch.append({count})).astype(dtype));
  }
  return concatenate(columns, -1);
}

Tensor part_over_time(const Tensor& columns, const Tensor& like, const Shape& batch, Index& column) {
  const Shape part = like.shape().axes(batch.rank(), like.rank());
  const Index begin = std::exchange(column, column + part.num_elements());
  const Shape places = columns.shape().axes(0, columns.rank() - 1);
  return slice_axis(columns, -1, begin, column).reshape(places.append(part)).astype(like.dtype());
}

}  // namespace strata::recurrent::internal
