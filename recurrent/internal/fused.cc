// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/fused.h"

#include <algorithm>
#include <memory>

#include "strata/recurrent/internal/sequence.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"

namespace strata::recurrent::internal {
namespace {

template <class T>
using Pointers = std::vector<T*>;  // the elements of FusedCell::tensors, or of their gradients

template <class T>
Matrix<T> kernel_at(const FusedCell& cell, const Pointers<T>& pointers, const GateSource& source) {
  if (source.tensor < 0) return {};
  const auto index = static_cast<std::size_t>(source.tensor);
  return {pointers[index] + source.column, cell.tensors[index].size(-1)};
}

template <class T>
T* bias_at(const Pointers<T>& pointers, const GateSource& source) {
  return source.tensor < 0 ? nullptr : pointers[static_cast<std::size_t>(source.tensor)] + source.column;
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

// Where a row's steps are: batch axes are outside or inside of the time axis.
template <class T>
SequenceView<T> view(T* data, const FusedCall& call, Index features) {
  const Index rows = call.axes.batch.num_elements();
  if (call.time_major) return {data, features, rows * features};
  return {data, call.axes.time * features, features};
}

SequenceShape shape_of(const FusedCall& call) {
  return {.rows = call.axes.batch.num_elements(),
          .steps = call.axes.time,
          .lengths = call.lengths ? call.lengths->data<Index>().data() : nullptr,
          .reverse = call.reverse,
          .keep_order = call.keep_order,
          .padding = call.padding_output};
}

template <class T>
Matrix<const T> rows_of(const std::optional<Tensor>& carry, Index hidden) {
  if (!carry) return {};
  return {carry->data<T>().data(), hidden};
}

template <class T>
Matrix<T> rows_to_write(std::optional<Tensor>& carry, Index hidden) {
  if (!carry) return {};
  return {carry->mutable_data<T>().data(), hidden};
}

// What the backward pass needs of the forward pass.
template <class T>
struct Saved {
  FusedCell cell;
  FusedCall call;
  PackedWeights<T> weights;
  Tape<T> tape;
  bool x_tracked;
};

// Room for a gradient, every element of which will be written.
Tensor uninitialized_like(const Tensor& x) { return Tensor::uninitialized(x.shape(), x.dtype()); }

template <class T>
std::vector<Cotangent> backward_of(Saved<T>& saved, std::span<const Cotangent> given) {
  const Index hidden = saved.cell.hidden;
  const FusedCall& call = saved.call;
  pack_transposed(saved.weights, weights_of<T>(saved.cell));

  Cotangents<T> cotangents;
  if (given[0]) cotangents.y = view(given[0]->template data<T>().data(), call, hidden);
  cotangents.carry.h = rows_of<T>(given[1], hidden);
  if (call.c) cotangents.carry.c = rows_of<T>(given[2], hidden);

  std::vector<Cotangent> result;
  Gradients<T> gradients;
  if (saved.x_tracked) {
    result.push_back(uninitialized_like(call.x));
    gradients.x = view(result.back()->template mutable_data<T>().data(), call, saved.cell.input);
  } else {
    result.emplace_back();
  }
  result.push_back(uninitialized_like(call.h));
  gradients.initial.h = rows_to_write<T>(result.back(), hidden);
  if (call.c) {
    result.push_back(uninitialized_like(*call.c));
    gradients.initial.c = rows_to_write<T>(result.back(), hidden);
  }
  Pointers<T> pointers;
  for (const Tensor& tensor : saved.cell.tensors) {
    result.push_back(uninitialized_like(tensor));
    pointers.push_back(result.back()->template mutable_data<T>().data());
  }
  gradients.weights = gate_arrays(saved.cell, pointers);
  backward(saved.weights, saved.tape, view(call.x.data<T>().data(), call, saved.cell.input), cotangents, gradients);
  return result;
}

bool any_tracked(const FusedCell& cell, const FusedCall& call) {
  return call.x.is_tracked() || call.h.is_tracked() || (call.c && call.c->is_tracked()) ||
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
  const DType dtype = dtype_of<T>;
  PackedWeights<T> weights(CellShape{cell.kind, cell.input, hidden, cell.residual});
  pack(weights, weights_of<T>(cell));

  std::vector<Index> y_sizes(call.x.shape().begin(), call.x.shape().end());
  y_sizes.back() = hidden;
  Tensor y = Tensor::uninitialized(Shape(y_sizes), dtype);
  std::optional<Tensor> h = Tensor::uninitialized(call.h.shape(), dtype);
  std::optional<Tensor> c;
  if (call.c) c = Tensor::uninitialized(call.c->shape(), dtype);
  const CarryView<const T> initial{rows_of<T>(call.h, hidden), rows_of<T>(call.c, hidden)};
  const CarryView<T> final_carry{rows_to_write<T>(h, hidden), rows_to_write<T>(c, hidden)};
  const bool tracked = any_tracked(cell, call);
  Tape<T> tape;
  forward(weights, shape_of(call), view(call.x.data<T>().data(), call, cell.input), initial,
          view(y.mutable_data<T>().data(), call, hidden), final_carry, tracked ? &tape : nullptr,
          rows_of<T>(call.h_mask, hidden));
  FusedResult result{std::move(y), std::move(*h), std::move(c)};
  if (!tracked) return result;
  return with_gradient(std::move(result), std::make_shared<Saved<T>>(Saved<T>{cell, call, std::move(weights),
                                                                              std::move(tape), call.x.is_tracked()}));
}

}  // namespace

void FusedCell::add_input_maps(std::initializer_list<const nn::Linear*> maps) {
  add_maps(maps, input, input_kernel, input_bias);
}

void FusedCell::add_recurrent_maps(std::initializer_list<const nn::Linear*> maps) {
  add_maps(maps, hidden, recurrent_kernel, recurrent_bias);
}

void FusedCell::add_maps(std::initializer_list<const nn::Linear*> maps, Index rows, GateSources& kernels,
                         GateSources& biases) {
  const auto gates_per_map = static_cast<std::size_t>(layout_of(kind).gates) / maps.size();
  const Index columns = hidden * static_cast<Index>(gates_per_map);
  const auto add = [&](const Tensor& weights, const Shape& shape, GateSources& sources, std::size_t first_gate) {
    if (weights.shape() != shape) {
      throw ShapeError("[scan] a weight of the cell is " + describe(weights) + ", expected shape " + to_string(shape) +
                       ".");
    }
    for (std::size_t gate = 0; gate < gates_per_map; ++gate) {
      sources[first_gate + gate] = {static_cast<int>(tensors.size()), hidden * static_cast<Index>(gate)};
    }
    tensors.push_back(weights);
  };
  std::size_t first_gate = 0;
  for (const nn::Linear* map : maps) {
    add(map->kernel, {rows, columns}, kernels, first_gate);
    if (map->bias) add(*map->bias, {columns}, biases, first_gate);
    as_stored = as_stored && (!map->dtype || *map->dtype == map->kernel.value().dtype());
    first_gate += gates_per_map;
  }
}

bool fused_takes(const FusedCell& cell, const Tensor& x) {
  if (!cell.as_stored || (x.dtype() != DType::float32 && x.dtype() != DType::float64)) return false;
  return std::all_of(cell.tensors.begin(), cell.tensors.end(), [&](const Tensor& t) { return t.dtype() == x.dtype(); });
}

FusedResult run_fused(const FusedCell& cell, const FusedCall& call) {
  if (call.x.size(-1) != cell.input) {
    throw ShapeError("[scan] the cell takes " + std::to_string(cell.input) + " input features, x is " +
                     describe(call.x) + ".");
  }
  return call.x.dtype() == DType::float32 ? run<float>(cell, call) : run<double>(cell, call);
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
