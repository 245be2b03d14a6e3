// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/scan/fused.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "strata/recurrent/internal/kernels/sequence.h"
#include "strata/recurrent/internal/scan/episodes.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/index.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent::internal {
namespace {

template <class T>
using Pointers = std::vector<T*>;  // the elements of FusedCell::tensors, or of their gradients; null if not wanted

template <class T>
Matrix<T> kernel_at(const FusedCell& cell, const Pointers<T>& pointers, const GateSource& source) {
  if (source.tensor < 0) return {};
  const auto index = static_cast<std::size_t>(source.tensor);
  if (pointers[index] == nullptr) return {};
  return {pointers[index] + source.column, cell.tensors[index].size(-1)};
}

template <class T>
T* bias_at(const Pointers<T>& pointers, const GateSource& source) {
  if (source.tensor < 0 || pointers[static_cast<std::size_t>(source.tensor)] == nullptr) return nullptr;
  return pointers[static_cast<std::size_t>(source.tensor)] + source.column;
}

template <class T>
GateArrays<T> gate_arrays(const FusedCell& cell, const Pointers<T>& pointers) {
  GateArrays<T> arrays;
  for (std::size_t gate = 0; gate < 4; ++gate) {
    arrays.input[gate] = kernel_at(cell, pointers, cell.input_kernel[gate]);
    arrays.recurrent[gate] = kernel_at(cell, pointers, cell.recurrent_kernel[gate]);
    arrays.input_bias[gate] = bias_at(pointers, cell.input_bias[gate]);
    arrays.recurrent_bias[gate] = bias_at(pointers, cell.recurrent_bias[gate]);
  }
  return arrays;
}

template <class T>
GateArrays<const T> weights_of(const FusedCell& cell) {
  Pointers<const T> pointers;
  for (const Tensor& tensor : cell.tensors) pointers.push_back(tensor.data<T>().data());
  return gate_arrays(cell, pointers);
}

// A tensor's features as rows, one for each place or row of the batch.
template <class T>
Matrix<const T> rows_of(const std::optional<Tensor>& x, Index features) {
  if (!x) return {};
  return {x->data<T>().data(), features};
}

template <class T>
Matrix<T> rows_to_write(std::optional<Tensor>& x, Index features) {
  if (!x) return {};
  return {x->mutable_data<T>().data(), features};
}

// The parts that a scan is run in, each from the carry that the one before has left.
struct Parts {
  const SequenceShape& shape;
  std::optional<Index> every;

  [[nodiscard]] Index count() const { return every ? std::max(longest_row(shape) - 1, Index{0}) / *every + 1 : 1; }
  [[nodiscard]] SequenceShape operator[](Index number) const {
    return count() == 1 ? shape : part_of(shape, *every, number);
  }
};

Parts parts_of(const FusedCall& call) {
  if (!call.checkpoint_every) return {call.shape, {}};
  return {call.shape, steps_between_checkpoints(*call.checkpoint_every, longest_row(call.shape))};
}

// The carry of all rows between steps.
struct FusedCarry {
  Tensor h;
  std::optional<Tensor> c;
};

template <class T>
CarryView<const T> view(const FusedCarry& carry, Index hidden) {
  return {rows_of<T>(carry.h, hidden), rows_of<T>(carry.c, hidden)};
}

// What the backward pass needs of the forward pass.
template <class T>
struct Saved {
  FusedCell cell;
  FusedCall call;
  PackedWeights<T> weights;
  std::optional<Tape<T>> tape;     // of a scan in one part; of others it is computed again
  std::vector<FusedCarry> starts;  // of all parts
  bool x_tracked;
  bool carry_tracked;
  std::vector<bool> weight_tracked;  // as cell.tensors
};

// Room for a result, every element of which will be written.
Tensor uninitialized_like(const Tensor& x) { return Tensor::uninitialized(x.shape(), x.dtype()); }

FusedCarry uninitialized_like(const FusedCarry& carry) {
  return {uninitialized_like(carry.h), carry.c ? std::optional(uninitialized_like(*carry.c)) : std::nullopt};
}

template <class T>
CarryView<T> view_to_write(FusedCarry& carry, Index hidden) {
  CarryView<T> view{{carry.h.mutable_data<T>().data(), hidden}, {}};
  if (carry.c) view.c = {carry.c->mutable_data<T>().data(), hidden};
  return view;
}

// The gradients of one part after the other, the last one first. Those of the weights are added up. Returns that of the
// initial carry, if it is wanted.
template <class T>
std::optional<FusedCarry> backward_of_parts(const Saved<T>& saved, Cotangents<T> cotangents, Gradients<T> gradients) {
  const Index hidden = saved.cell.hidden;
  const Matrix<const T> x = rows_of<T>(saved.call.x, saved.cell.input);
  const Parts parts = parts_of(saved.call);
  std::optional<FusedCarry> result;
  for (Index part = parts.count() - 1; part >= 0; --part) {
    const FusedCarry& start = saved.starts[static_cast<std::size_t>(part)];
    std::optional<FusedCarry> gradient;
    if (part > 0 || saved.carry_tracked) gradient = uninitialized_like(start);
    gradients.initial = gradient ? view_to_write<T>(*gradient, hidden) : CarryView<T>{};
    if (saved.tape) {
      backward(saved.weights, *saved.tape, x, cotangents, gradients);
    } else {
      Tape<T> tape;
      forward(saved.weights, parts[part], x, view<T>(start, hidden), {}, {}, &tape,
              rows_of<T>(saved.call.h_mask, hidden));
      backward(saved.weights, tape, x, cotangents, gradients);
    }
    gradients.add = true;
    result = std::move(gradient);
    if (result) cotangents.carry = view<T>(*result, hidden);
  }
  return result;
}

template <class T>
std::vector<Cotangent> backward_of(Saved<T>& saved, std::span<const Cotangent> given) {
  const Index hidden = saved.cell.hidden;
  const FusedCall& call = saved.call;
  pack_transposed(saved.weights, weights_of<T>(saved.cell));

  Cotangents<T> cotangents;
  cotangents.y = rows_of<T>(given[0], hidden);
  cotangents.carry.h = rows_of<T>(given[1], hidden);
  if (call.c) cotangents.carry.c = rows_of<T>(given[2], hidden);

  Gradients<T> gradients;
  Cotangent dx;
  if (saved.x_tracked) dx = uninitialized_like(call.x);
  gradients.x = rows_to_write<T>(dx, saved.cell.input);
  std::vector<Cotangent> weight_gradients;
  Pointers<T> pointers;
  for (std::size_t i = 0; i < saved.cell.tensors.size(); ++i) {
    Cotangent& gradient = weight_gradients.emplace_back();
    if (saved.weight_tracked[i]) gradient = uninitialized_like(saved.cell.tensors[i]);
    pointers.push_back(gradient ? gradient->template mutable_data<T>().data() : nullptr);
  }
  gradients.weights = gate_arrays(saved.cell, pointers);
  std::optional<FusedCarry> initial = backward_of_parts(saved, cotangents, gradients);

  std::vector<Cotangent> result{std::move(dx), initial ? Cotangent(std::move(initial->h)) : Cotangent()};
  if (call.c) result.push_back(initial ? std::move(initial->c) : Cotangent());
  std::move(weight_gradients.begin(), weight_gradients.end(), std::back_inserter(result));
  return result;
}

bool carry_tracked(const FusedCall& call) { return call.h.is_tracked() || (call.c && call.c->is_tracked()); }

bool any_tracked(const FusedCell& cell, const FusedCall& call) {
  return call.x.is_tracked() || carry_tracked(call) ||
         std::any_of(cell.tensors.begin(), cell.tensors.end(), [](const Tensor& t) { return t.is_tracked(); });
}

template <class T>
FusedResult with_gradient(FusedResult result, const std::shared_ptr<Saved<T>>& saved) {
  const FusedCall& call = saved->call;
  std::vector<Tensor> inputs{call.x, call.h};
  if (call.c) inputs.push_back(*call.c);
  inputs.insert(inputs.end(), saved->cell.tensors.begin(), saved->cell.tensors.end());
  std::vector<Tensor> outputs{std::move(result.y), std::move(result.h)};
  if (result.c) outputs.push_back(std::move(*result.c));
  outputs = differentiable(std::move(outputs), inputs,
                           [saved](std::span<const Cotangent> given) { return backward_of(*saved, given); });
  return {outputs[0], outputs[1], result.c ? std::optional<Tensor>(outputs[2]) : std::nullopt};
}

template <class T>
FusedResult run(const FusedCell& cell, const FusedCall& call) {
  const Index hidden = cell.hidden;
  PackedWeights<T> weights(CellShape{cell.kind, cell.input, hidden, cell.residual});
  pack(weights, weights_of<T>(cell));

  std::vector<Index> y_sizes(call.x.shape().begin(), call.x.shape().end());
  y_sizes.back() = hidden;
  std::optional<Tensor> y = Tensor::uninitialized(Shape(y_sizes), dtype_of<T>);
  const Matrix<T> y_rows = rows_to_write<T>(y, hidden);
  const bool tracked = any_tracked(cell, call);
  const Parts parts = parts_of(call);
  std::optional<Tape<T>> tape;
  if (tracked && parts.count() == 1) tape.emplace();
  std::vector<FusedCarry> starts;
  FusedCarry carry{stop_gradient(call.h), call.c ? std::optional(stop_gradient(*call.c)) : std::nullopt};
  for (Index part = 0; part < parts.count(); ++part) {
    FusedCarry end = uninitialized_like(carry);
    forward(weights, parts[part], rows_of<T>(call.x, cell.input), view<T>(carry, hidden), y_rows,
            view_to_write<T>(end, hidden), tape ? &*tape : nullptr, rows_of<T>(call.h_mask, hidden));
    starts.push_back(std::exchange(carry, std::move(end)));
  }
  FusedResult result{std::move(*y), std::move(carry.h), std::move(carry.c)};
  if (!tracked) return result;
  std::vector<bool> weight_tracked;
  for (const Tensor& tensor : cell.tensors) weight_tracked.push_back(tensor.is_tracked());
  return with_gradient(std::move(result), std::make_shared<Saved<T>>(Saved<T>{
                                              cell, call, std::move(weights), std::move(tape), std::move(starts),
                                              call.x.is_tracked(), carry_tracked(call), std::move(weight_tracked)}));
}

// Episodes as rows of their own over the same memory: each starts from its row's initial carry or the one to reset to,
// and the last one of a row leaves its carry.
template <class T>
FusedResult run_episodes(const FusedCell& cell, const FusedCall& call) {
  Episodes episodes = cut_episodes(call.shape, call.resets->data<bool>().data());
  const auto rows = static_cast<Index>(call.shape.rows.size());
  const Tensor row_of_episode = tensor(episodes.row, {static_cast<Index>(episodes.row.size())});
  std::vector<Index> first = std::move(episodes.row);
  for (std::size_t i = 0; i < first.size(); ++i) first[i] += episodes.starts_from_reset[i] ? rows : 0;
  const Tensor starts = tensor(first, {static_cast<Index>(first.size())});
  const Tensor ends = tensor(episodes.last, {rows});
  const Shape carry_rows{rows, cell.hidden};
  const auto start_from = [&](const Tensor& initial, const Tensor& reset) {
    return take(concatenate({initial.reshape(carry_rows), reset.reshape(carry_rows)}, 0), starts, 0);
  };
  FusedCall by_episode{.x = call.x,
                       .h = start_from(call.h, *call.reset_h),
                       .c = {},
                       .shape = call.shape,
                       .checkpoint_every = call.checkpoint_every};
  by_episode.shape.rows = std::move(episodes.spans);
  if (call.c) by_episode.c = start_from(*call.c, *call.reset_c);
  if (call.h_mask) by_episode.h_mask = take(call.h_mask->reshape(carry_rows), row_of_episode, 0);
  FusedResult result = run<T>(cell, by_episode);
  result.h = take(result.h, ends, 0).reshape(call.h.shape());
  if (result.c) result.c = take(*result.c, ends, 0).reshape(call.c->shape());
  return result;
}

template <class T>
FusedResult run_any(const FusedCell& cell, const FusedCall& call) {
  return call.resets ? run_episodes<T>(cell, call) : run<T>(cell, call);
}

}  // namespace

FusedResult run_fused(const FusedCell& cell, const FusedCall& call) {
  return call.x.dtype() == DType::float32 ? run_any<float>(cell, call) : run_any<double>(cell, call);
}

std::shared_ptr<const PackedWeights<float>> pack_for_streams(const std::optional<FusedCell>& cell) {
  if (!cell) {
    throw ValueError(
        "[stream] the cell's options ask for steps of single tensor operations. Stream a cell with the standard "
        "functions "
        "and form.");
  }
  if (cell->is_masked) throw ValueError("[stream] the cell is in training mode and draws masks. Call nn::eval first.");
  for (const Tensor& tensor : cell->tensors) {
    if (tensor.dtype() == DType::float32 && cell->as_stored) continue;
    throw DTypeError("[stream] a parameter is " + describe(tensor) +
                     (cell->as_stored ? "" : " and is computed with in another type") +
                     ". Give all parameters as float32, with `dtype` unset.");
  }
  auto weights =
      std::make_shared<PackedWeights<float>>(CellShape{cell->kind, cell->input, cell->hidden, cell->residual});
  pack(*weights, weights_of<float>(*cell));
  return weights;
}

}  // namespace strata::recurrent::internal
