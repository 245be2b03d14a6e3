// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/weights/weight_layouts.h"

#include <fmt/format.h>

#include "strata/tensor/activation.h"

namespace strata::recurrent::internal {
namespace {

constexpr auto sigmoid_function = static_cast<Activation>(sigmoid);
constexpr auto tanh_function = static_cast<Activation>(strata::tanh);
constexpr auto relu_function = static_cast<Activation>(relu);

bool has_functions_of_pytorch(const CellParts& cell) {
  if (cell.family == CellFamily::simple) return cell.activation == tanh_function || cell.activation == relu_function;
  return cell.gate == sigmoid_function && cell.activation == tanh_function;
}

bool is_flax(WeightLayout layout) { return layout == WeightLayout::flax_linen || layout == WeightLayout::flax_nnx; }

}  // namespace

std::string_view library_of(WeightLayout layout) {
  switch (layout) {
    case WeightLayout::pytorch:
      return "PyTorch";
    case WeightLayout::keras:
      return "Keras";
    case WeightLayout::onnx:
      return "ONNX";
    case WeightLayout::flax_linen:
      return "flax.linen";
    case WeightLayout::flax_nnx:
      break;
  }
  return "flax.nnx";
}

std::string_view gates(WeightLayout layout, CellFamily family) {
  if (family == CellFamily::lstm) return layout == WeightLayout::onnx ? "iofg" : "ifgo";
  if (family == CellFamily::simple) return gates(family);
  return layout == WeightLayout::keras || layout == WeightLayout::onnx ? "zrn" : "rzn";
}

std::string_view text_of(GRUForm form) { return form == GRUForm::reset_after ? "reset_after" : "reset_before"; }

std::optional<std::string> what_differs(const CellParts& cell, WeightLayout layout, GRUForm form) {
  const std::string_view library = library_of(layout);
  if (cell.family == CellFamily::gru && cell.form != form) {
    return fmt::format("this {} has GRUForm::{}, and the GRU of {} GRUForm::{}", cell.name, text_of(cell.form), library,
                       text_of(form));
  }
  if (cell.projection != nullptr && layout != WeightLayout::pytorch) {
    return fmt::format("this {} has a projection, and no layer of {} has one", cell.name, library);
  }
  if (!cell.peepholes.empty() && layout != WeightLayout::onnx) {
    return fmt::format("this {} has peepholes, and no layer of {} has them", cell.name, library);
  }
  if (cell.residual && !is_flax(layout)) {
    return fmt::format("this {} is residual, and no layer of {} is", cell.name, library);
  }
  if (layout == WeightLayout::pytorch && !has_functions_of_pytorch(cell)) {
    return fmt::format("this {} has activations that no layer of {} has", cell.name, library);
  }
  return std::nullopt;
}

std::string pytorch_suffix(LayerPlace place, std::size_t direction) {
  return fmt::format("_l{}{}", place.layer, direction == 0 ? "" : "_reverse");
}

Path flax_direction(const LayerParts& layer, std::size_t direction) {
  if (layer.is_cell) return {};
  if (layer.cells.size() == 1) return {"cell"};
  return {direction == 0 ? "forward_rnn" : "backward_rnn", "cell"};
}

std::string flax_input_layer(WeightLayout layout, char gate) {
  // In nnx the layers are members of a Python class, where `if` is no name.
  const std::string layer = std::string("i") + gate;
  return layer == "if" && layout == WeightLayout::flax_nnx ? "if_" : layer;
}

}  // namespace strata::recurrent::internal
