// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/recurrent/internal/weights/cell_parts.h"
#include "strata/recurrent/internal/weights/foreign_weights.h"
#include "strata/recurrent/weights.h"

namespace strata::recurrent::internal {

// "PyTorch", "Keras", ...
[[nodiscard]] std::string_view library_of(WeightLayout layout);

// The gates of the family in the order of the layout, by our letters.
[[nodiscard]] std::string_view gates(WeightLayout layout, CellFamily family);

// The gates that have peepholes, in the order of ONNX's P: no other layout has them.
inline constexpr std::string_view peephole_gates_of_onnx = "iof";

[[nodiscard]] std::string_view text_of(GRUForm form);

// Where a layer stands among those that are exchanged together.
struct LayerPlace {
  std::size_t layer = 0;
  std::size_t num_layers = 1;
};

// What the cells of a layer do that no layer of the library does, as a clause; nothing if all is well. A GRU of `form`.
[[nodiscard]] std::optional<std::string> what_differs(const CellParts& cell, WeightLayout layout, GRUForm form);

// The weights of the cells of a layer. What is wrong is noted in `weights`, and whatever is returned then is of no use.
[[nodiscard]] std::vector<GateWeights> read_layer(ForeignWeights& weights, WeightLayout layout, const LayerParts& layer,
                                                  LayerPlace place, std::optional<GRUForm> form);

// Adds the weights of a layer to the state.
void write_layer(State& state, WeightLayout layout, const LayerParts& layer, LayerPlace place);

// The names that reading and writing share.
[[nodiscard]] std::string pytorch_suffix(LayerPlace place, std::size_t direction);
[[nodiscard]] Path flax_direction(const LayerParts& layer, std::size_t direction);
[[nodiscard]] std::string flax_input_layer(WeightLayout layout, char gate);

}  // namespace strata::recurrent::internal
