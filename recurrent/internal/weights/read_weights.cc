// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "strata/recurrent/internal/weights/weight_layouts.h"
#include "strata/tensor/create.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent::internal {
namespace {

using Form = ForeignWeights::Form;

// Reads the weights of one cell in one layout.
class CellReader {
 public:
  CellReader(ForeignWeights& weights, WeightLayout layout, const CellParts& cell)
      : weights_(weights),
        cell_(cell),
        theirs_(gates(layout, cell.family)),
        ours_(gates(cell.family)),
        in_(cell.in_features()),
        state_(cell.state_features()),
        hidden_(cell.hidden_features()),
        columns_(static_cast<Index>(ours_.size()) * hidden_) {
    for (const char gate : theirs_) meaning_ += fmt::format("{}{}", meaning_.empty() ? "gates " : ", ", gate);
    if (theirs_.size() == 1) meaning_.clear();
  }

  GateWeights pytorch(const std::string& suffix) {
    GateWeights result{.input_kernel = kernel(transpose(take({"weight_ih" + suffix}, {columns_, in_}))),
                       .recurrent_kernel = kernel(transpose(take({"weight_hh" + suffix}, {columns_, state_})))};
    const Path projection{"weight_hr" + suffix};
    if (cell_.projection != nullptr) {
      result.projection = transpose(weights_.take(projection, {Shape{state_, hidden_}, cell_.dtype(), ""}));
    } else if (weights_.take_any(projection) != nullptr) {
      weights_.refuse(projection,
                      fmt::format("a projection of the state, proj_size, which {} does not have", cell_.name));
    }
    const Path input_bias{"bias_ih" + suffix};
    const Path recurrent_bias{"bias_hh" + suffix};
    if (weights_.contains(input_bias) || weights_.contains(recurrent_bias)) {
      result.input_bias = kernel(take(input_bias, {columns_}));
      result.recurrent_bias = kernel(take(recurrent_bias, {columns_}));
    }
    return result;
  }

  GateWeights keras(const Path& home, GRUForm form) {
    GateWeights result{.input_kernel = kernel(take(home / Key("kernel"), {in_, columns_})),
                       .recurrent_kernel = kernel(take(home / Key("recurrent_kernel"), {state_, columns_}))};
    const Path bias = home / Key("bias");
    if (!weights_.contains(bias)) return result;
    if (cell_.family == CellFamily::gru && form == GRUForm::reset_after) {
      const Tensor both = take(bias, {2, columns_});
      result.input_bias = kernel(both[0]);
      result.recurrent_bias = kernel(both[1]);
    } else {
      result.input_bias = kernel(take(bias, {columns_}));
    }
    return result;
  }

  // From the arrays of all directions.
  GateWeights onnx(const Tensor& w, const Tensor& r, const std::optional<Tensor>& b, const std::optional<Tensor>& p,
                   Index direction) {
    GateWeights result{.input_kernel = kernel(transpose(w[direction])),
                       .recurrent_kernel = kernel(transpose(r[direction]))};
    if (b) {
      result.input_bias = kernel((*b)[direction].slice(0, columns_));
      result.recurrent_bias = kernel((*b)[direction].slice(columns_, 2 * columns_));
    }
    if (p) result.peepholes = reorder_gates((*p)[direction], peephole_gates_of_onnx, peephole_gates);
    return result;
  }

  // One layer for all gates, as nnx and we have them.
  GateWeights fused(const Path& home) {
    const Path input = home / Key("dense_i");
    const Path recurrent = home / Key("dense_h");
    return {.input_kernel = take(input / Key("kernel"), {in_, columns_}),
            .recurrent_kernel = take(recurrent / Key("kernel"), {state_, columns_}),
            .input_bias = bias_of(input, cell_.family != CellFamily::lstm),
            .recurrent_bias = bias_of(recurrent, cell_.family == CellFamily::lstm)};
  }

  // One layer for each gate.
  GateWeights by_gates(const Path& home, WeightLayout layout) {
    if (cell_.family == CellFamily::simple) {
      return {.input_kernel = take(home / Key("i") / Key("kernel"), {in_, hidden_}),
              .recurrent_kernel = take(home / Key("h") / Key("kernel"), {hidden_, hidden_}),
              .input_bias = take(home / Key("i") / Key("bias"), {hidden_})};
    }
    const bool is_gru = cell_.family == CellFamily::gru;
    std::vector<Tensor> input_kernels, recurrent_kernels, input_biases, recurrent_biases;
    for (const char gate : ours_) {
      const Path input = home / Key(flax_input_layer(layout, gate));
      const Path recurrent = home / Key(std::string("h") + gate);
      const Tensor none = zeros({hidden_}, cell_.dtype());
      input_kernels.push_back(take(input / Key("kernel"), {in_, hidden_}));
      recurrent_kernels.push_back(take(recurrent / Key("kernel"), {hidden_, hidden_}));
      input_biases.push_back(is_gru ? take(input / Key("bias"), {hidden_}) : none);
      recurrent_biases.push_back(!is_gru || gate == 'n' ? take(recurrent / Key("bias"), {hidden_}) : none);
    }
    return {.input_kernel = concatenate(input_kernels, -1),
            .recurrent_kernel = concatenate(recurrent_kernels, -1),
            .input_bias = concatenate(input_biases, -1),
            .recurrent_bias = concatenate(recurrent_biases, -1)};
  }

  Tensor take(const Path& path, const Shape& shape) { return weights_.take(path, {shape, cell_.dtype(), meaning_}); }

  [[nodiscard]] Index columns() const { return columns_; }

 private:
  // An array with the gates along its last axis, in our order.
  [[nodiscard]] Tensor kernel(const Tensor& x) const { return reorder_gates(x, theirs_, ours_); }

  std::optional<Tensor> bias_of(const Path& layer, bool required) {
    const Path path = layer / Key("bias");
    if (!required && !weights_.contains(path)) return std::nullopt;
    return take(path, {columns_});
  }

  ForeignWeights& weights_;
  const CellParts& cell_;
  std::string_view theirs_;
  std::string_view ours_;
  Index in_;
  Index state_;
  Index hidden_;
  Index columns_;
  std::string meaning_;
};

// ---------------------------------------------------------------- where weights stand

// What leads to `kernel` below a path: Keras puts the names of layers and cells before it.
Path keras_home(const ForeignWeights& weights, const Path& below) {
  for (const auto& [path, variable] : weights.entries()) {
    if (path.starts_with(below) && path.depth() > below.depth() && path.back() == Key("kernel")) {
      return path.prefix(path.depth() - 1);
    }
  }
  return below;
}

// A Bidirectional of Keras calls its layers forward_<name> and backward_<name>.
Path keras_direction(const ForeignWeights& weights, const LayerParts& layer, std::size_t direction) {
  if (layer.cells.size() == 1) return {};
  const std::string word = direction == 0 ? "forward" : "backward";
  for (const auto& [path, variable] : weights.entries()) {
    for (int i = 0; i < path.depth(); ++i) {
      if (!path[i].is_integer() && path[i].text().starts_with(word)) return path.prefix(i + 1);
    }
  }
  return {Key(word)};
}

// Layers that were not wrapped, or whose paths were cut short, have their weights without `cell`.
Path flax_home(const ForeignWeights& weights, const LayerParts& layer, std::size_t direction) {
  Path usual = flax_direction(layer, direction);
  for (const auto& [path, variable] : weights.entries()) {
    if (path.starts_with(usual)) return usual;
  }
  Path shorter = usual.prefix(usual.depth() - 1);
  for (const auto& [path, variable] : weights.entries()) {
    if (path.starts_with(shorter) && usual.depth() > 0) return shorter;
  }
  return usual;
}

// ---------------------------------------------------------------- forms of the GRU

// The form that the weights tell, which must be the one that the caller names, if any.
GRUForm agreed(ForeignWeights& weights, GRUForm told, std::optional<GRUForm> named, const std::string& what) {
  if (named && *named != told) {
    weights.refuse(fmt::format("gru_form {}, where {} says {}", text_of(*named), what, text_of(told)));
  }
  return told;
}

GRUForm keras_form(ForeignWeights& weights, const Path& home, std::optional<GRUForm> named) {
  const Variable* const bias = weights.entries().find(home / Key("bias"));
  if (bias == nullptr) return named.value_or(GRUForm::reset_after);
  const bool two_rows = bias->value().rank() == 2;
  return agreed(weights, two_rows ? GRUForm::reset_after : GRUForm::reset_before, named, "the rank of the bias");
}

GRUForm onnx_form(ForeignWeights& weights, std::optional<GRUForm> named) {
  const Tensor* const attribute = weights.take_any({"linear_before_reset"});
  if (attribute == nullptr || attribute->size() != 1) return named.value_or(GRUForm::reset_before);
  const bool after = attribute->reshape({1}).item<bool>();
  return agreed(weights, after ? GRUForm::reset_after : GRUForm::reset_before, named, "linear_before_reset");
}

void check(ForeignWeights& weights, WeightLayout layout, const CellParts& cell, GRUForm form) {
  if (const std::optional<std::string> difference = what_differs(cell, layout, form)) weights.refuse(*difference);
}

// ---------------------------------------------------------------- layers

std::vector<GateWeights> read_pytorch(ForeignWeights& weights, const LayerParts& layer, LayerPlace place) {
  std::vector<GateWeights> result;
  for (std::size_t d = 0; d < layer.cells.size(); ++d) {
    const bool is_module_of_a_cell =
        place.num_layers == 1 && layer.cells.size() == 1 && weights.contains({"weight_ih"});
    CellReader reader(weights, WeightLayout::pytorch, layer.cells[d]);
    result.push_back(reader.pytorch(is_module_of_a_cell ? "" : pytorch_suffix(place, d)));
  }
  return result;
}

std::vector<GateWeights> read_keras(ForeignWeights& weights, const LayerParts& layer, std::optional<GRUForm> named) {
  std::vector<GateWeights> result;
  for (std::size_t d = 0; d < layer.cells.size(); ++d) {
    const Path home = keras_home(weights, keras_direction(weights, layer, d));
    const CellParts& cell = layer.cells[d];
    const GRUForm form = cell.family == CellFamily::gru ? keras_form(weights, home, named) : GRUForm::reset_after;
    check(weights, WeightLayout::keras, cell, form);
    result.push_back(CellReader(weights, WeightLayout::keras, cell).keras(home, form));
  }
  return result;
}

void refuse_onnx_options(ForeignWeights& weights) {
  if (weights.take_any({"clip"}) != nullptr) {
    weights.refuse({"clip"}, "a bound of the gates, which our cells do not have");
  }
  const Tensor* const coupled = weights.take_any({"input_forget"});
  if (coupled != nullptr && !is_zero(*coupled)) {
    weights.refuse({"input_forget"}, "input and forget gates made one, which our cells do not have");
  }
}

// P of all directions, if there is one and the cell has peepholes.
std::optional<Tensor> onnx_peepholes(ForeignWeights& weights, const CellParts& cell, Index directions) {
  if (!weights.contains({"P"})) return std::nullopt;
  if (!cell.peepholes.empty()) {
    return weights.take({"P"}, {Shape{directions, 3 * cell.hidden_features()}, cell.dtype(), "gates i, o, f"});
  }
  (void)weights.take_any({"P"});
  weights.refuse({"P"}, fmt::format("peepholes, which {} does not have: take a PeepholeLSTMCell", cell.name));
  return std::nullopt;
}

std::vector<GateWeights> read_onnx(ForeignWeights& weights, const LayerParts& layer, std::optional<GRUForm> named) {
  refuse_onnx_options(weights);
  const CellParts& first = layer.cells[0];
  const auto directions = static_cast<Index>(layer.cells.size());
  const GRUForm form = first.family == CellFamily::gru ? onnx_form(weights, named) : GRUForm::reset_after;
  CellReader reader(weights, WeightLayout::onnx, first);
  const Tensor w = reader.take({"W"}, {directions, reader.columns(), first.in_features()});
  const Tensor r = reader.take({"R"}, {directions, reader.columns(), first.hidden_features()});
  std::optional<Tensor> b;
  if (weights.contains({"B"})) b = reader.take({"B"}, {directions, 2 * reader.columns()});
  const std::optional<Tensor> p = onnx_peepholes(weights, first, directions);
  std::vector<GateWeights> result;
  for (Index d = 0; d < directions; ++d) {
    const CellParts& cell = layer.cells[static_cast<std::size_t>(d)];
    check(weights, WeightLayout::onnx, cell, form);
    if (cell.family != first.family || cell.hidden_features() != first.hidden_features() ||
        cell.peepholes.size() != first.peepholes.size()) {
      weights.refuse("cells of two kinds or sizes, which ONNX does not have in one operator");
      break;  // this cell's gates cannot be told apart in arrays of the first one's
    }
    result.push_back(CellReader(weights, WeightLayout::onnx, cell).onnx(w, r, b, p, d));
  }
  return result;
}

std::vector<GateWeights> read_flax(ForeignWeights& weights, WeightLayout layout, const LayerParts& layer) {
  std::vector<GateWeights> result;
  for (std::size_t d = 0; d < layer.cells.size(); ++d) {
    const CellParts& cell = layer.cells[d];
    const Path home = flax_home(weights, layer, d);
    CellReader reader(weights, layout, cell);
    const bool by_gates = cell.family == CellFamily::lstm && !weights.contains(home / Key("dense_i") / Key("kernel"));
    const bool fused = layout == WeightLayout::flax_nnx && !by_gates;
    result.push_back(fused ? reader.fused(home) : reader.by_gates(home, layout));
  }
  return result;
}

}  // namespace

std::vector<GateWeights> read_layer(ForeignWeights& weights, WeightLayout layout, const LayerParts& layer,
                                    LayerPlace place, std::optional<GRUForm> form) {
  if (layout == WeightLayout::keras) return read_keras(weights, layer, form);
  if (layout == WeightLayout::onnx) return read_onnx(weights, layer, form);
  const std::string library(library_of(layout));
  for (const CellParts& cell : layer.cells) {
    if (cell.family != CellFamily::gru) {
      check(weights, layout, cell, GRUForm::reset_after);
    } else {
      check(weights, layout, cell, agreed(weights, GRUForm::reset_after, form, library));
    }
  }
  return layout == WeightLayout::pytorch ? read_pytorch(weights, layer, place) : read_flax(weights, layout, layer);
}

}  // namespace strata::recurrent::internal
