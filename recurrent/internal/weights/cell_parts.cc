// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/weights/cell_parts.h"

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"

namespace strata::recurrent::internal {
namespace {

Index num_gates(CellFamily family) { return static_cast<Index>(gates(family).size()); }

Tensor side_by_side(const std::vector<Tensor>& parts) { return parts.size() == 1 ? parts[0] : concatenate(parts, -1); }

Tensor kernel_of(const std::vector<nn::Linear*>& maps) {
  std::vector<Tensor> kernels;
  kernels.reserve(maps.size());
  for (const nn::Linear* map : maps) kernels.push_back(map->kernel);
  return side_by_side(kernels);
}

std::optional<Tensor> bias_of(const std::vector<nn::Linear*>& maps) {
  std::vector<Tensor> biases;
  for (const nn::Linear* map : maps) {
    if (map->bias) biases.push_back(*map->bias);
  }
  if (biases.size() != maps.size()) return std::nullopt;
  return side_by_side(biases);
}

bool have_bias(const std::vector<nn::Linear*>& maps) { return bias_of(maps).has_value(); }

std::optional<Tensor> peepholes_of(const CellParts& cell) {
  if (cell.peepholes.empty()) return std::nullopt;
  std::vector<Tensor> values;
  for (const Param* peephole : cell.peepholes) values.push_back(*peephole);
  return side_by_side(values);
}

// The reset gate of a GRU that resets after the product scales the hidden bias of n: it is no sum with the other one.
std::optional<Tensor> what_cannot_be_summed(const CellParts& cell, const std::optional<Tensor>& bias) {
  if (cell.family != CellFamily::gru || cell.form != GRUForm::reset_after || !bias) return std::nullopt;
  return split_axis(*bias, num_gates(cell.family), -1)[2];
}

void assign(const std::vector<nn::Linear*>& maps, const Tensor& kernel, const std::optional<Tensor>& bias,
            std::vector<Assignment>& assignments) {
  const auto count = static_cast<Index>(maps.size());
  const std::vector<Tensor> kernels = split_axis(kernel, count, -1);
  for (std::size_t i = 0; i < maps.size(); ++i) assignments.push_back({&maps[i]->kernel, kernels[i]});
  if (!have_bias(maps)) return;
  const std::vector<Tensor> biases = split_axis(bias ? *bias : zeros({kernel.size(-1)}, kernel.dtype()), count, -1);
  for (std::size_t i = 0; i < maps.size(); ++i) assignments.push_back({&*maps[i]->bias, biases[i]});
}

void assign_peepholes(const CellParts& cell, const std::optional<Tensor>& peepholes,
                      std::vector<Assignment>& assignments) {
  if (cell.peepholes.empty()) return;
  const auto count = static_cast<Index>(cell.peepholes.size());
  const Tensor given = peepholes ? *peepholes : zeros({count * cell.hidden_features()}, cell.dtype());
  const std::vector<Tensor> values = split_axis(given, count, -1);
  for (std::size_t i = 0; i < values.size(); ++i) assignments.push_back({cell.peepholes[i], values[i]});
}

}  // namespace

CellParts parts_of(LSTMCell& cell) {
  return {.family = CellFamily::lstm,
          .name = "LSTMCell",
          .input_maps = {&cell.ii, &cell.if_, &cell.ig, &cell.io},
          .recurrent_maps = {&cell.hi, &cell.hf, &cell.hg, &cell.ho},
          .gate = cell.options.gate,
          .activation = cell.options.activation};
}

CellParts parts_of(OptimizedLSTMCell& cell) {
  return {.family = CellFamily::lstm,
          .name = "OptimizedLSTMCell",
          .input_maps = {&cell.dense_i},
          .recurrent_maps = {&cell.dense_h},
          .gate = cell.options.gate,
          .activation = cell.options.activation};
}

CellParts parts_of(ProjectedLSTMCell& cell) {
  return {.family = CellFamily::lstm,
          .name = "ProjectedLSTMCell",
          .input_maps = {&cell.dense_i},
          .recurrent_maps = {&cell.dense_h},
          .gate = cell.options.gate,
          .activation = cell.options.activation,
          .projection = &cell.projection};
}

CellParts parts_of(PeepholeLSTMCell& cell) {
  return {.family = CellFamily::lstm,
          .name = "PeepholeLSTMCell",
          .input_maps = {&cell.dense_i},
          .recurrent_maps = {&cell.dense_h},
          .gate = cell.options.gate,
          .activation = cell.options.activation,
          .peepholes = {&cell.ci, &cell.cf, &cell.co}};
}

CellParts parts_of(GRUCell& cell) {
  return {.family = CellFamily::gru,
          .name = "GRUCell",
          .input_maps = {&cell.dense_i},
          .recurrent_maps = {&cell.dense_h},
          .gate = cell.options.gate,
          .activation = cell.options.activation,
          .form = cell.options.form};
}

CellParts parts_of(SimpleCell& cell) {
  return {.family = CellFamily::simple,
          .name = "SimpleCell",
          .input_maps = {&cell.dense_i},
          .recurrent_maps = {&cell.dense_h},
          .activation = cell.options.activation,
          .residual = cell.options.residual};
}

std::string_view gates(CellFamily family) {
  switch (family) {
    case CellFamily::lstm:
      return "ifgo";
    case CellFamily::gru:
      return "rzn";
    case CellFamily::simple:
      break;
  }
  return "h";
}

bool is_zero(const std::optional<Tensor>& bias) { return !bias || !any(not_equal(*bias, 0)).item<bool>(); }

std::optional<Tensor> sum_of_biases(const std::optional<Tensor>& a, const std::optional<Tensor>& b) {
  if (is_zero(b)) return a ? a : b;
  if (is_zero(a)) return b;
  return *a + *b;
}

Tensor reorder_gates(const Tensor& x, std::string_view from, std::string_view to) {
  if (from == to) return x;
  const std::vector<Tensor> parts = split_axis(x, static_cast<Index>(from.size()), -1);
  std::vector<Tensor> ordered;
  for (const char gate : to) ordered.push_back(parts[from.find(gate)]);
  return side_by_side(ordered);
}

GateWeights weights_of(const CellParts& cell) {
  return {.input_kernel = kernel_of(cell.input_maps),
          .recurrent_kernel = kernel_of(cell.recurrent_maps),
          .input_bias = bias_of(cell.input_maps),
          .recurrent_bias = bias_of(cell.recurrent_maps),
          .projection = cell.projection != nullptr ? std::optional<Tensor>(cell.projection->kernel) : std::nullopt,
          .peepholes = peepholes_of(cell)};
}

std::optional<std::string> assign_weights(const CellParts& cell, const GateWeights& weights,
                                          std::vector<Assignment>& assignments) {
  std::optional<Tensor> input_bias = weights.input_bias;
  std::optional<Tensor> recurrent_bias = weights.recurrent_bias;
  const bool has_input = have_bias(cell.input_maps);
  const bool has_recurrent = have_bias(cell.recurrent_maps);
  if (!has_input && !has_recurrent && !(is_zero(input_bias) && is_zero(recurrent_bias))) {
    return "a bias, which this cell has none of";
  }
  if (!has_recurrent && !is_zero(what_cannot_be_summed(cell, recurrent_bias))) {
    return "the hidden bias of n, which the reset gate scales: this GRUCell has no place for it; make it with "
           "GRUOptions{.recurrent_bias = true}";
  }
  if (!has_input && !is_zero(what_cannot_be_summed(cell, input_bias))) {
    return "the input bias of n, which this cell has no place for";
  }
  if (has_input != has_recurrent) {
    (has_input ? input_bias : recurrent_bias) = sum_of_biases(input_bias, recurrent_bias);
  }
  assign(cell.input_maps, weights.input_kernel, input_bias, assignments);
  assign(cell.recurrent_maps, weights.recurrent_kernel, recurrent_bias, assignments);
  if (weights.projection) assignments.push_back({&cell.projection->kernel, *weights.projection});
  assign_peepholes(cell, weights.peepholes, assignments);
  return std::nullopt;
}

}  // namespace strata::recurrent::internal
