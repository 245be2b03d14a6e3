// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/scan/scan_packed.h"

#include "strata/tensor/error.h"
#include "strata/tensor/index.h"

namespace strata::recurrent::internal {
namespace {

Tensor indices(const std::vector<Index>& values) { return tensor(values, {static_cast<Index>(values.size())}); }

std::vector<Index> rows_in_order(const RowOrder& order) {
  std::vector<Index> rows;
  for (Index j = 0; j < order.rows(); ++j) rows.push_back(order.row(j));
  return rows;
}

// result[permutation[i]] = i.
std::vector<Index> inverse(const std::vector<Index>& permutation) {
  std::vector<Index> result(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    result[static_cast<std::size_t>(permutation[i])] = static_cast<Index>(i);
  }
  return result;
}

// Calls f(j, t) for every pair, in the order of their numbers.
template <class F>
void for_each_pair(const RowOrder& order, const F& f) {
  for (Index t = 0; t < order.processed_steps(); ++t) {
    for (Index j = 0; j < order.active(t); ++j) f(j, t);
  }
}

}  // namespace

void check_no_lengths(const std::optional<Tensor>& lengths, const std::optional<Tensor>& mask) {
  if (lengths) {
    throw ValueError("[scan] lengths are passed beside a packed sequence, which has its own. Leave seq_lengths out.");
  }
  if (mask) {
    throw ValueError(
        "[scan] a mask is passed beside a packed sequence, all of whose steps run. Pack those that shall run, and "
        "leave "
        "the mask out.");
  }
}

Shape step_shape(const PackedSequence& x) { return x.batch().append(x.data().shape().axes(1, x.data().rank())); }

Tensor at_each_step(const Tensor& rows, const PackedSequence& x) {
  const std::span<const Index> lengths = x.lengths().data<Index>();
  std::vector<Index> row_of_step;
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    row_of_step.insert(row_of_step.end(), static_cast<std::size_t>(lengths[row]), static_cast<Index>(row));
  }
  const Shape flat = Shape{x.lengths().size()}.append(x.data().shape().axes(1, x.data().rank()));
  return take(rows.reshape(flat), indices(row_of_step), 0);
}

PackedSteps::PackedSteps(const SequenceShape& shape, const std::optional<Tensor>& resets)
    : shape_(shape), order_(shape), resets_(resets) {}

std::vector<Tensor> PackedSteps::cut(const Tensor& data) const {
  std::vector<Index> places;
  for_each_pair(order_, [&](Index j, Index t) { places.push_back(order_.input_place(j, t)); });
  std::vector<Index> sizes;
  for (Index t = 0; t < count(); ++t) sizes.push_back(rows(t));
  return cut_rows(take(data, indices(places), 0), sizes);
}

std::optional<Tensor> PackedSteps::resets(Index t) const {
  if (!resets_) return std::nullopt;
  const bool* const flags = resets_->data<bool>().data();
  Tensor result = zeros({rows(t)}, DType::boolean);
  const auto to = result.mutable_data<bool>();
  for (Index j = 0; j < rows(t); ++j) {
    const RowSpan& span = shape_.rows[static_cast<std::size_t>(order_.row(j))];
    to[static_cast<std::size_t>(j)] = resets_before(shape_, span, t, flags);
  }
  if (!any_true(result)) return std::nullopt;
  return result;
}

Tensor PackedSteps::sorted(const std::string& part, const Tensor& value, const Shape& batch) const {
  if (value.rank() < batch.rank() || value.shape().axes(0, batch.rank()) != batch) {
    throw ShapeError("[scan] part `" + part + "` of the initial carry is " + describe(value) +
                     ", expected the batch axes " + to_string(batch) + " first.");
  }
  const Shape rows = Shape{order_.rows()}.append(value.shape().axes(batch.rank(), value.rank()));
  return take(value.reshape(rows), indices(rows_in_order(order_)), 0);
}

Tensor PackedSteps::unsorted(const Tensor& rows, const Shape& batch) const {
  return take(rows, indices(inverse(rows_in_order(order_))), 0)
      .reshape(batch.append(rows.shape().axes(1, rows.rank())));
}

Tensor PackedSteps::packed(std::span<const Tensor> outputs) const {
  std::vector<Index> places;
  for_each_pair(order_, [&](Index j, Index t) { places.push_back(order_.output_place(j, t)); });
  return take(concatenate(outputs, 0), indices(inverse(places)), 0);
}

Tensor end_rows(Tensor& part, Index count) {
  const std::vector<Index> sizes{count, part.size(0) - count};
  std::vector<Tensor> parts = cut_rows(part, sizes);
  part = std::move(parts[0]);
  return std::move(parts[1]);
}

}  // namespace strata::recurrent::internal
