// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "strata/recurrent/internal/weights/weight_layouts.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent::internal {
namespace {

// The weights of one cell, with the gates in the order of a layout.
struct Outgoing {
  Outgoing(const CellParts& cell_parts, WeightLayout layout)
      : cell(cell_parts), ours(weights_of(cell_parts)), theirs(gates(layout, cell_parts.family)) {}

  [[nodiscard]] Tensor reordered(const Tensor& x) const { return reorder_gates(x, gates(cell.family), theirs); }
  [[nodiscard]] Tensor input_kernel() const { return reordered(ours.input_kernel); }
  [[nodiscard]] Tensor recurrent_kernel() const { return reordered(ours.recurrent_kernel); }
  [[nodiscard]] bool has_bias() const { return ours.input_bias || ours.recurrent_bias; }
  [[nodiscard]] Tensor bias(const std::optional<Tensor>& given) const {
    return given ? reordered(*given) : zeros({ours.input_kernel.size(-1)}, cell.dtype());
  }
  [[nodiscard]] Tensor input_bias() const { return bias(ours.input_bias); }
  [[nodiscard]] Tensor recurrent_bias() const { return bias(ours.recurrent_bias); }
  [[nodiscard]] Tensor summed_bias() const { return bias(sum_of_biases(ours.input_bias, ours.recurrent_bias)); }

  const CellParts& cell;
  GateWeights ours;
  std::string_view theirs;
};

void add(State& state, const Path& path, const Tensor& value) { state.set(path, Param(value)); }

void write_pytorch(State& state, const CellParts& cell, const std::string& suffix) {
  const Outgoing out(cell, WeightLayout::pytorch);
  add(state, {"weight_ih" + suffix}, transpose(out.input_kernel()));
  add(state, {"weight_hh" + suffix}, transpose(out.recurrent_kernel()));
  if (out.ours.projection) add(state, {"weight_hr" + suffix}, transpose(*out.ours.projection));
  if (!out.has_bias()) return;
  add(state, {"bias_ih" + suffix}, out.input_bias());
  add(state, {"bias_hh" + suffix}, out.recurrent_bias());
}

void write_keras(State& state, const CellParts& cell, const Path& home) {
  const Outgoing out(cell, WeightLayout::keras);
  add(state, home / Key("kernel"), out.input_kernel());
  add(state, home / Key("recurrent_kernel"), out.recurrent_kernel());
  if (!out.has_bias()) return;
  const bool two_rows = cell.family == CellFamily::gru && cell.form == GRUForm::reset_after;
  add(state, home / Key("bias"), two_rows ? stack({out.input_bias(), out.recurrent_bias()}, 0) : out.summed_bias());
}

void write_onnx(State& state, const LayerParts& layer) {
  std::vector<Tensor> w, r, b, p;
  bool has_bias = false;
  for (const CellParts& cell : layer.cells) {
    const Outgoing out(cell, WeightLayout::onnx);
    w.push_back(transpose(out.input_kernel()));
    r.push_back(transpose(out.recurrent_kernel()));
    b.push_back(concatenate({out.input_bias(), out.recurrent_bias()}, 0));
    has_bias = has_bias || out.has_bias();
    if (out.ours.peepholes) p.push_back(reorder_gates(*out.ours.peepholes, peephole_gates, peephole_gates_of_onnx));
    if (r.back().shape() != r.front().shape() || cell.peepholes.size() != layer.cells[0].peepholes.size()) {
      throw StateError("[export_weights] an operator of ONNX has no cells of two kinds or sizes.");
    }
  }
  add(state, {"W"}, stack(w, 0));
  add(state, {"R"}, stack(r, 0));
  if (has_bias) add(state, {"B"}, stack(b, 0));
  if (!p.empty()) add(state, {"P"}, stack(p, 0));
  if (layer.cells[0].family == CellFamily::gru) {
    add(state, {"linear_before_reset"}, scalar<std::int64_t>(layer.cells[0].form == GRUForm::reset_after ? 1 : 0));
  }
}

// A GRU of Flax has the biases of r and z on the input side alone.
struct FlaxGRUBiases {
  explicit FlaxGRUBiases(const Outgoing& out) {
    const auto count = static_cast<Index>(out.theirs.size());
    input = split_axis(out.input_bias(), count, 0);
    const std::vector<Tensor> summed = split_axis(out.summed_bias(), count, 0);
    input[0] = summed[0];
    input[1] = summed[1];
    recurrent_n = split_axis(out.recurrent_bias(), count, 0)[2];
  }

  std::vector<Tensor> input;
  Tensor recurrent_n;
};

void write_fused(State& state, const CellParts& cell, const Path& home) {
  const Outgoing out(cell, WeightLayout::flax_nnx);
  const bool is_lstm = cell.family == CellFamily::lstm;
  Tensor bias = out.summed_bias();
  if (cell.family == CellFamily::gru) {
    const FlaxGRUBiases biases(out);
    if (!is_zero(biases.recurrent_n)) {
      throw StateError(
          "[export_weights] this GRUCell has a hidden bias of n, and the GRUCell of flax.nnx no place for it. Take "
          "WeightLayout::flax_linen.");
    }
    bias = concatenate(biases.input, 0);
  }
  add(state, home / Key("dense_i") / Key("kernel"), out.input_kernel());
  add(state, home / Key("dense_h") / Key("kernel"), out.recurrent_kernel());
  add(state, home / Key(is_lstm ? "dense_h" : "dense_i") / Key("bias"), bias);
}

void write_by_gates(State& state, const CellParts& cell, const Path& home, WeightLayout layout) {
  const Outgoing out(cell, layout);
  if (cell.family == CellFamily::simple) {
    add(state, home / Key("i") / Key("kernel"), out.input_kernel());
    add(state, home / Key("h") / Key("kernel"), out.recurrent_kernel());
    add(state, home / Key("i") / Key("bias"), out.summed_bias());
    return;
  }
  const bool is_gru = cell.family == CellFamily::gru;
  const auto count = static_cast<Index>(out.theirs.size());
  const std::vector<Tensor> input_kernels = split_axis(out.input_kernel(), count, -1);
  const std::vector<Tensor> recurrent_kernels = split_axis(out.recurrent_kernel(), count, -1);
  const std::vector<Tensor> summed = split_axis(out.summed_bias(), count, 0);
  for (std::size_t gate = 0; gate < out.theirs.size(); ++gate) {
    const Path input = home / Key(flax_input_layer(layout, out.theirs[gate]));
    const Path recurrent = home / Key(std::string("h") + out.theirs[gate]);
    add(state, input / Key("kernel"), input_kernels[gate]);
    add(state, recurrent / Key("kernel"), recurrent_kernels[gate]);
    if (!is_gru) add(state, recurrent / Key("bias"), summed[gate]);
  }
  if (!is_gru) return;
  const FlaxGRUBiases biases(out);
  for (std::size_t gate = 0; gate < out.theirs.size(); ++gate) {
    add(state, home / Key(flax_input_layer(layout, out.theirs[gate])) / Key("bias"), biases.input[gate]);
  }
  add(state, home / Key("hn") / Key("bias"), biases.recurrent_n);
}

void write_flax(State& state, const CellParts& cell, const Path& home, WeightLayout layout) {
  const bool has_gates = cell.family == CellFamily::lstm && cell.input_maps.size() > 1;
  if (layout == WeightLayout::flax_linen || has_gates) return write_by_gates(state, cell, home, layout);
  write_fused(state, cell, home);
}

}  // namespace

void write_layer(State& state, WeightLayout layout, const LayerParts& layer, LayerPlace place) {
  if (layout == WeightLayout::onnx) return write_onnx(state, layer);
  for (std::size_t d = 0; d < layer.cells.size(); ++d) {
    const CellParts& cell = layer.cells[d];
    if (layout == WeightLayout::pytorch) {
      write_pytorch(state, cell, layer.is_cell ? "" : pytorch_suffix(place, d));
    } else if (layout == WeightLayout::keras) {
      write_keras(state, cell, layer.cells.size() == 1 ? Path() : Path{d == 0 ? "forward" : "backward"});
    } else {
      write_flax(state, cell, flax_direction(layer, d), layout);
    }
  }
}

}  // namespace strata::recurrent::internal
