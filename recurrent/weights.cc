// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/weights.h"

#include <fmt/format.h>

#include <utility>

#include "strata/recurrent/internal/weights/weight_layouts.h"
#include "strata/state/internal/listing.h"
#include "strata/tensor/error.h"

namespace strata::recurrent {
namespace {

using internal::LayerParts;

Path renamed(const Path& path, const std::vector<nn::RenameRule>& rules) {
  for (const nn::RenameRule& rule : rules) {
    if (std::optional<Path> result = rule(path)) return *std::move(result);
  }
  return path;
}

// The entries below the prefix, without it.
State entries_below(const State& weights, const Path& prefix, const std::vector<nn::RenameRule>& rules) {
  std::vector<State::Entry> entries;
  for (const State::Entry& entry : weights) {
    const Path path = renamed(entry.path, rules);
    if (!path.starts_with(prefix)) continue;
    std::vector<Key> rest(path.begin() + prefix.depth(), path.end());
    entries.push_back({Path(rest), entry.variable});
  }
  return State(std::move(entries));
}

// "2 layers of Bidirectional LSTMCell (3 inputs, hidden size 4) in the layout of PyTorch"
std::string description_of(const std::vector<LayerParts>& layers, WeightLayout layout) {
  const internal::CellParts& first = layers[0].cells[0];
  return fmt::format("{}{}{} with {} inputs and hidden size {} in the layout of {}",
                     layers.size() == 1 ? "" : fmt::format("{} layers of ", layers.size()),
                     layers[0].cells.size() == 1 ? "" : "Bidirectional ", first.name, first.in_features(),
                     first.hidden_features(), internal::library_of(layout));
}

void check_layers(const internal::LayerList& list, WeightLayout layout, const char* operation) {
  const std::vector<LayerParts>& layers = list.layers();
  if (list.is_residual()) {
    throw StateError(fmt::format("[{}] this Stacked is residual, and no layer of {} is. Exchange its `layers`.",
                                 operation, internal::library_of(layout)));
  }
  if (layers.empty()) throw ValueError(fmt::format("[{}] there are no layers.", operation));
  if (layers.size() == 1 || layout == WeightLayout::pytorch) return;
  throw ValueError(fmt::format("[{}] {} layers are given, and {} has a module for each. Exchange them one by one.",
                               operation, layers.size(), internal::library_of(layout)));
}

}  // namespace

void internal::load_layers(const LayerList& list, const State& weights, WeightLayout layout,
                           const WeightOptions& options) {
  check_layers(list, layout, "load_weights");
  const std::vector<LayerParts>& layers = list.layers();
  const Path prefix = Path::parse(options.prefix);
  ForeignWeights foreign(entries_below(weights, prefix, options.rename), prefix, options.cast);
  std::vector<Assignment> assignments;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerPlace place{.layer = i, .num_layers = layers.size()};
    const std::vector<GateWeights> read = read_layer(foreign, layout, layers[i], place, options.gru_form);
    for (std::size_t d = 0; d < read.size(); ++d) {
      if (const auto refused = assign_weights(layers[i].cells[d], read[d], assignments)) foreign.refuse(*refused);
    }
  }
  foreign.finish(description_of(layers, layout));
  for (Assignment& assignment : assignments) assignment.variable->reset(std::move(assignment.value));
}

State internal::export_layers(const LayerList& list, WeightLayout layout) {
  check_layers(list, layout, "export_weights");
  const std::vector<LayerParts>& layers = list.layers();
  const bool has_both_forms = layout == WeightLayout::keras || layout == WeightLayout::onnx;
  State state;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const CellParts& cell : layers[i].cells) {
      const GRUForm form = has_both_forms ? layers[i].cells[0].form : GRUForm::reset_after;
      if (const auto difference = what_differs(cell, layout, form)) {
        throw StateError(fmt::format("[export_weights] {}.", *difference));
      }
    }
    write_layer(state, layout, layers[i], {.layer = i, .num_layers = layers.size()});
  }
  return state;
}

}  // namespace strata::recurrent
