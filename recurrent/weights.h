// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "strata/nn/load.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/internal/weights/cell_parts.h"
#include "strata/recurrent/recurrent_dropout.h"
#include "strata/recurrent/stacked.h"
#include "strata/state/state.h"

// Weights of recurrent layers in the layouts of other libraries: to load a network that was trained elsewhere, and to
// give one back.
namespace strata::recurrent {

// How a library names and lays out the weights of its recurrent layers. Gates stand side by side in the order given; H
// is the hidden size, D the number of directions.
enum class WeightLayout : std::uint8_t {
  // torch.nn.LSTM, GRU, RNN: weight_ih_l0 [gates H, in], weight_hh_l0 [gates H, H], bias_ih_l0, bias_hh_l0 [gates H],
  // further layers _l1, ..., the other direction _l0_reverse; with proj_size P weight_hr_l0 [P, H] and weight_hh_l0
  // [gates H, P]; torch.nn.LSTMCell, GRUCell, RNNCell without _l0. LSTM i f g o, GRU r z n.
  pytorch,
  // keras.layers.LSTM, GRU, SimpleRNN: kernel [in, gates H], recurrent_kernel [H, gates H], bias [gates H], with
  // reset_after [2, gates H], under the names of cells and, in a Bidirectional, of layers that begin with `forward` and
  // `backward`. LSTM i f c o, GRU z r h.
  keras,
  // The operators LSTM, GRU, RNN: W [D, gates H, in], R [D, gates H, H], B [D, 2 gates H], peepholes P [D, 3 H]. LSTM
  // i o f c, P i o f, GRU z r h. B and P may be left out, which is zero. The attribute linear_before_reset may stand
  // beside them.
  onnx,
  // flax.linen: LSTMCell, OptimizedLSTMCell ii if ig io /kernel, hi hf hg ho /kernel, /bias; GRUCell ir iz in /kernel,
  // /bias, hr hz /kernel, hn /kernel, /bias; SimpleCell i/kernel, i/bias, h/kernel. Below `cell`, `forward_rnn/cell` or
  // `backward_rnn/cell` of a layer.
  flax_linen,
  // flax.nnx: our own paths. LSTMCell and OptimizedLSTMCell are read into either of ours.
  flax_nnx,
};

struct WeightOptions {
  // The path, as a text, below which the weights stand. All that stands there must be of use; all else is left alone.
  std::string prefix = {};
  // Make the paths of the state those of the layout, before the prefix is looked for: the first rule that has a say
  // counts.
  std::vector<nn::RenameRule> rename = {};
  // Where the reset gate acts in the library's GRU, if the weights do not tell. By default reset_after, in ONNX without
  // linear_before_reset reset_before.
  std::optional<GRUForm> gru_form = {};
  bool cast = false;  // takes other floating element types than those of the cell
};

namespace internal {

// The cells whose weights other libraries have too.
template <class C>
concept ExchangedCell =
    std::same_as<C, LSTMCell> || std::same_as<C, OptimizedLSTMCell> || std::same_as<C, ProjectedLSTMCell> ||
    std::same_as<C, PeepholeLSTMCell> || std::same_as<C, GRUCell> || std::same_as<C, SimpleCell>;

// The layers whose weights are exchanged, told by their types: what only looks like one may hold more.
class LayerList {
 public:
  template <ExchangedCell C>
  void add(C& cell) {
    layers_.push_back({.cells = {parts_of(cell)}, .is_cell = true});
  }
  template <class C>
  void add(RecurrentDropout<C>& dropout) {
    add(dropout.cell);
  }
  template <class C>
  void add(RNN<C>& layer) {
    layers_.push_back({.cells = {parts_within(layer.cell)}});
  }
  template <class F, class B>
  void add(Bidirectional<F, B>& layer) {
    layers_.push_back({.cells = {parts_within(layer.forward_rnn.cell), parts_within(layer.backward_rnn.cell)}});
  }
  template <class L>
  void add(Stacked<L>& stack) {
    is_residual_ = is_residual_ || stack.options.residual;
    add(stack.layers);
  }
  template <class L>
  void add(std::vector<L>& layers) {
    for (L& layer : layers) add(layer);
  }
  template <class L, std::size_t N>
  void add(std::array<L, N>& layers) {
    for (L& layer : layers) add(layer);
  }
  template <class... L>
  void add(std::tuple<L...>& layers) {
    std::apply([&](auto&... layer) { (add(layer), ...); }, layers);
  }
  template <class L>
  void add(L&) {
    static_assert(ExchangedCell<L>,
                  "weights are exchanged of LSTMCell, OptimizedLSTMCell, ProjectedLSTMCell, PeepholeLSTMCell, GRUCell "
                  "and SimpleCell, also within a RecurrentDropout, of RNN and Bidirectional of them, and of stacks, "
                  "vectors, arrays and tuples of such layers; of other modules pass the part that is one of these");
  }

  [[nodiscard]] const std::vector<LayerParts>& layers() const { return layers_; }
  [[nodiscard]] bool is_residual() const { return is_residual_; }

 private:
  template <class C>
  static CellParts parts_within(C& cell) {
    static_assert(ExchangedCell<C>,
                  "this cell is none that other libraries have: a LearnedCarry has an initial carry besides, a Zoneout "
                  "is another cell in evaluation too; pass the cell within it");
    return parts_of(cell);
  }
  template <class C>
  static CellParts parts_within(RecurrentDropout<C>& dropout) {
    return parts_within(dropout.cell);
  }

  std::vector<LayerParts> layers_;
  bool is_residual_ = false;
};

void load_layers(const LayerList& list, const State& weights, WeightLayout layout, const WeightOptions& options);
[[nodiscard]] State export_layers(const LayerList& list, WeightLayout layout);

}  // namespace internal

// Gives a layer the weights of one of another library: an LSTMCell, OptimizedLSTMCell, ProjectedLSTMCell (PyTorch
// only), PeepholeLSTMCell (ONNX only), GRUCell or SimpleCell, an RNN or a Bidirectional of them, or, from the layout of
// PyTorch, several such layers in a Stacked, a std::vector, a std::array or std::tie. The cell may stand in a
// RecurrentDropout, which has no weights and is the cell in evaluation. Any other module does not compile, nor does
// another wrapped cell: pass what it holds.
//
//   State weights = checkpoint::restore_safetensors("model.safetensors");
//   recurrent::load_weights(model.encoder, weights, WeightLayout::pytorch, {.prefix = "encoder"});
//
// Kernels are transposed, gates brought in our order, and two biases that are always summed become one. The numbers are
// those of the other library to rounding.
//
// Throws StateError that lists weights that are missing, of no use or of another shape or type, and what the cell
// cannot do: a GRU of another form, or with a hidden bias of n that the cell has no place for; a projection (PyTorch)
// or peepholes (ONNX) that the cell does not have; clip, input_forget (ONNX); functions that PyTorch's layer does not
// have; a residual Stacked. Nothing is changed then.
template <class L>
void load_weights(L&& layer, const State& weights, WeightLayout layout, const WeightOptions& options = {}) {
  internal::LayerList layers;
  layers.add(layer);
  internal::load_layers(layers, weights, layout, options);
}

// The weights of a layer, or of several, as another library lays them out; with_prefix puts them below a path. What
// load_weights makes of them is the layer again. Where the library has two biases for one of ours, it gets all of it in
// one of them.
//
//   State weights = recurrent::export_weights(model.encoder, WeightLayout::pytorch);
//   checkpoint::save_safetensors("encoder.safetensors", weights);
//
// Throws StateError that says what the library's layer cannot do: the form of a GRU, its hidden bias of n (nnx),
// a projection, peepholes, residual cells, functions that are not PyTorch's.
template <class L>
[[nodiscard]] State export_weights(const L& layer, WeightLayout layout) {
  internal::LayerList layers;
  layers.add(const_cast<L&>(layer));  // only read
  return internal::export_layers(layers, layout);
}

}  // namespace strata::recurrent
