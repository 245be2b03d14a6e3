// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/state/internal/leaves.h"
#include "support/json.h"

// Layers of the golden data, built of the library's cells behind one interface.
namespace strata::golden {

using Arrays = std::map<std::string, Tensor>;

// Where an array of the file stands in a cell of ours: gate number `gate` of `gates` side by side along the last axis.
struct WeightPlace {
  std::string name;  // in the file, below the cell
  Path path;         // in the cell
  Index gate = 0;
  Index gates = 1;
};

// What a layer gives, and takes: carry leaves by their names in the file ("c", "fwd/h").
struct LayerInput {
  Tensor x;
  std::optional<Tensor> lengths;
  Arrays carry;  // empty: the cell's own
};
struct LayerOutput {
  Tensor y;
  Arrays carry;
};

class Layer {
 public:
  virtual ~Layer() = default;

  // Takes `params` under their names in the file, and tells gradients (by our paths) under those names. Where the two
  // directions share one cell, the file has it under forward_rnn, and gradients are added.
  virtual void set_params(const Arrays& params) = 0;
  [[nodiscard]] virtual Arrays rename(const State& gradients) const = 0;

  [[nodiscard]] virtual std::vector<internal::Leaf> leaves() = 0;
  [[nodiscard]] virtual LayerOutput run(const LayerInput& input) = 0;
};

// `entry` is a case of the manifest, `layer` its description of this layer. Throws Skip for what the library lacks.
std::unique_ptr<Layer> make_layer(const support::Json& entry, const support::Json& layer, Index in_features,
                                  DType dtype);

}  // namespace strata::golden
