// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/state/rngs.h"

namespace strata::nn {

struct DropoutOptions {
  bool deterministic = false;
  std::vector<int> broadcast_dims = {};    // axes along which all elements share their fate
  std::string rng_collection = "dropout";  // the stream to draw from
};

struct DropoutCall {
  std::optional<bool> deterministic = {};  // instead of the layer's own setting
};

// In training mode, sets elements to 0 with probability `rate` and divides the others by 1 - rate; draws one key for
// each call. In evaluation mode (`deterministic`), or with rate 0, x is returned as it is; with rate 1, zeros. Neither
// draws.
//
// Source: Srivastava et al., "Dropout" (2014). The mask is that of flax.nnx.Dropout 0.12 for the same seed.
struct Dropout {
  // Forks the stream `rng_collection` of rngs, or `default`: its state is found under `rngs/key` and `rngs/count`,
  // tagged with that stream's name. Throws ValueError if the rate is not in [0, 1].
  Dropout(double rate, Rngs& rngs, const DropoutOptions& options = {});

  // Without a stream: for evaluation mode, and for rates that need no draws.
  explicit Dropout(double rate, const DropoutOptions& options = {});

  // The result has the shape and element type of x. Throws, when elements are dropped, StateError if there is no
  // stream, DTypeError if x is not floating, ShapeError if x lacks one of the broadcast axes.
  [[nodiscard]] Tensor operator()(const Tensor& x, const DropoutCall& call = {});

  double rate;
  bool deterministic;
  std::vector<int> broadcast_dims;
  std::optional<RngStream> rngs;

  STRATA_FIELDS(rate, deterministic, broadcast_dims, rngs)
};

}  // namespace strata::nn
