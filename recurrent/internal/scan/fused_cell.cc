// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/scan/fused_cell.h"

#include <algorithm>

#include "strata/tensor/error.h"

namespace strata::recurrent::internal {

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

void check_fused_input(const FusedCell& cell, const Tensor& x) {
  if (x.size(-1) == cell.input) return;
  throw ShapeError("[scan] the cell takes " + std::to_string(cell.input) + " input features, x is " + describe(x) +
                   ".");
}

void check_own_part(const char* operation, const std::string& part, const Tensor& got, const PartForm& expected) {
  const auto message = [&] {
    return "[" + std::string(operation) + "] part `" + part + "` of the cell's own initial carry is " + describe(got) +
           ", expected " + (expected.dtype ? std::string(name(*expected.dtype)) + " " : "shape ") +
           to_string(expected.shape) + ". Set what it is made of to the cell's sizes and type.";
  };
  if (got.shape() != expected.shape) throw ShapeError(message());
  if (expected.dtype && got.dtype() != *expected.dtype) throw DTypeError(message());
}

}  // namespace strata::recurrent::internal
