// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "strata/nn/conv.h"
#include "strata/nn/initializers.h"
#include "strata/recurrent/carry.h"
#include "strata/recurrent/cell.h"
#include "strata/state/rngs.h"

namespace strata::recurrent {

struct ConvLSTMOptions {
  bool use_bias = true;
  ConvPadding padding = PaddingMode::same;
  nn::Initializer kernel_init = nn::initializers::lecun_normal();
  nn::Initializer bias_init = nn::initializers::zeros();
  std::optional<DType> dtype = {};  // to convolve in; by default the promoted type of the factors
  DType param_dtype = DType::float32;
  bool operator==(const ConvLSTMOptions&) const = default;
};

// Long short-term memory over grids of 1 to 3 spatial axes, one step at a time:
//
//   [i g f o] = ih(x) + hh(h)
//   c' = sigmoid(f + 1) c + sigmoid(i) tanh(g)
//   h' = sigmoid(o) tanh(c')
//
// ih and hh are convolutions of stride 1 with a channel for each gate and feature, [i g f o] parts of their channels;
// products of gates are elementwise. The 1 is part of the formula, not of a bias.
//
// Source: Shi et al. (2015), without peepholes. Paths and values agree with flax.linen.ConvLSTMCell 0.12.
template <int SpatialAxes>
struct ConvLSTMCell {
  static_assert(SpatialAxes >= 1 && SpatialAxes <= 3, "a ConvLSTMCell has 1 to 3 spatial axes");

  using Carry = LSTMCarry;  // parts are [*batch, *space, features]
  using KernelSize = std::array<Index, static_cast<std::size_t>(SpatialAxes)>;
  static constexpr int num_feature_axes = SpatialAxes + 1;

  // Kernels are [*kernel_size, in_features, 4 features] and [*kernel_size, features, 4 features]; each layer draws from
  // the stream `params` for its kernel and, if it has one, its bias, ih before hh. Throws ShapeError if a size is not
  // positive or too large, ValueError if the padding would change the size of a grid.
  ConvLSTMCell(Index in_features, Index features, const KernelSize& kernel_size, Rngs& rngs,
               const ConvLSTMOptions& options = {});

  // One step. x is [*batch, *space, in_features]; returns the new carry and its h. `carry` is left as it was.
  // Throws ShapeError, naming argument, shape and expected shape, if the channels or the other axes do not fit.
  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) const;

  // Zeros of [*batch, *space, features] for inputs of shape [*batch, *space, in_features].
  [[nodiscard]] Carry initial_carry(const Shape& input) const;

  nn::Conv ih;
  nn::Conv hh;

  STRATA_FIELDS(ih, hh)
};

extern template struct ConvLSTMCell<1>;
extern template struct ConvLSTMCell<2>;
extern template struct ConvLSTMCell<3>;

}  // namespace strata::recurrent
