// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "strata/nn/load.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/internal/cell_parts.h"
#include "strata/state/state.h"

// Weights of recurrent layers in the layouts of other libraries: to load a network that was trained elsewhere, and to give
// one back.
namespace strata::recurrent {

// How a library names and lays out the weights of its recurrent layers. Gates stand side by side in the order given; H is
// the hidden size, D the number of directions.
enum class WeightLayout : std::uint8_t {
  // torch.nn.LSTM, GRU, RNN: weight_ih_l0 [gates H, in], weight_hh_l0 [gates H, H], bias_ih_l0, bias_hh_l0 [gates H], further
  // layers _l1, ..., the other direction _l0_reverse; with proj_size P weight_hr_l0 [P, H] and weight_hh_l0 [gates H, P];
  // torch.nn.LSTMCell, GRUCell, RNNCell without _l0. LSTM i f g o, GRU r z n.
  pytorch,
  // keras.layers.LSTM, GRU, SimpleRNN: kernel [in, gates H], recurrent_kernel [H, gates H], bias [gates H], with reset_after
  // [2, gates H], under the names of cells and, in a Bidirectional, of layers that begin with `forward` and `backward`. LSTM
  // i f c o, GRU z r h.
  keras,
  // The operators LSTM, GRU, RNN: W [D, gates H, in], R [D, gates H, H], B [D, 2 gates H]. LSTM i o f c, GRU z r h. The
  // attribute linear_before_reset may stand beside them.
  onnx,
  // flax.linen: LSTMCell, OptimizedLSTMCell ii if ig io /kernel, hi hf hg ho /kernel, /bias; GRUCell ir iz in /kernel, /bias,
  // hr hz /kernel, hn /kernel, /bias; SimpleCell i/kernel, i/bias, h/kernel. Below `cell`, `forward_rnn/cell` or
  // `backward_rnn/cell` of a layer.
  flax_linen,
  // flax.nnx: our own paths. LSTMCell and OptimizedLSTMCell are read into either of ours.
  flax_nnx,
};

struct WeightOptions {
  // The path, as a text, below which the weights stand. All that stands there must be of use; all else is left alone.
  std::string prefix = {};
  // Make the paths of the state those of the layout, before the prefix is looked for: the first rule that has a say counts.
  std::vector<nn::RenameRule> rename = {};
  // Where the reset gate acts in the library's GRU, if the weights do not tell. By default reset_after, in ONNX without
  // linear_before_reset reset_before.
  std::optional<GRUForm> gru_form = {};
  bool cast = false;  // takes other floating element types than those of the cell
};

namespace internal {

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

template <class L>
void append_layers(std::vector<LayerParts>& layers, L& layer) {
  if constexpr (requires { parts_of(layer); }) {
    layers.push_back({.cells = {parts_of(layer)}, .is_cell = true});
  } else if constexpr (requires { parts_of(layer.cell); }) {
    layers.push_back({.cells = {parts_of(layer.cell)}});
  } else if constexpr (requires {
                         parts_of(layer.forward_rnn.cell);
                         parts_of(layer.backward_rnn.cell);
                       }) {
    layers.push_back({.cells = {parts_of(layer.forward_rnn.cell), parts_of(layer.backward_rnn.cell)}});
  } else if constexpr (requires { layer.layers; }) {
    append_layers(layers, layer.layers);
  } else if constexpr (is_tuple<std::remove_const_t<L>>) {
    std::apply([&](auto&... parts) { (append_layers(layers, parts), ...); }, layer);
  } else {
    static_assert(
        requires { std::begin(layer); },
        "weights are exchanged of LSTMCell, OptimizedLSTMCell, ProjectedLSTMCell, GRUCell and SimpleCell, of RNN and "
        "Bidirectional of them, and of stacks, vectors and tuples of such layers");
    for (auto& part : layer) append_layers(layers, part);
  }
}

void load_layers(const std::vector<LayerParts>& layers, const State& weights, WeightLayout layout,
                 const WeightOptions& options);
[[nodiscard]] State export_layers(const std::vector<LayerParts>& layers, WeightLayout layout);

}  // namespace internal

// Gives a layer the weights of one of another library: a standard cell, an RNN or a Bidirectional of them, or, from the
// layout of PyTorch, several such layers in a Stacked, a std::vector or std::tie.
//
//   State weights = checkpoint::restore_safetensors("model.safetensors");
//   recurrent::load_weights(model.encoder, weights, WeightLayout::pytorch, {.prefix = "encoder"});
//
// Kernels are transposed, gates brought in our order, and two biases that are always summed become one. The numbers are those
// of the other library to rounding.
//
// Throws StateError that lists weights that are missing, of no use or of another shape or type, and what the cell cannot
// do: a GRU of another form, or with a hidden bias of n that the cell has no place for; a projection (PyTorch) that the
// cell does not have; peepholes, clip, input_forget (ONNX); functions that PyTorch's layer does not have. Nothing is changed then.
template <class L>
void load_weights(L&& layer, const State& weights, WeightLayout layout, const WeightOptions& options = {}) {
  std::vector<internal::LayerParts> layers;
  internal::append_layers(layers, layer);
  internal::load_layers(layers, weights, layout, options);
}

// The weights of a layer, or of several, as another library lays them out; with_prefix puts them below a path. What
// load_weights makes of them is the layer again. Where the library has two biases for one of ours, it gets all of it in one
// of them.
//
//   checkpoint::save_safetensors("encoder.safetensors", recurrent::export_weights(model.encoder, WeightLayout::pytorch));
//
// Throws StateError that says what the library's layer cannot do: the form of a GRU, its hidden bias of n (nnx), residual
// cells, functions that are not PyTorch's.
template <class L>
[[nodiscard]] State export_weights(const L& layer, WeightLayout layout) {
  std::vector<internal::LayerParts> layers;
  internal::append_layers(layers, const_cast<L&>(layer));  // only read
  return internal::export_layers(layers, layout);
}

}  // namespace strata::recurrent
