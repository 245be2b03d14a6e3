// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/nn/initializers.h"
#include "strata/nn/linear.h"
#include "strata/recurrent/carry.h"
#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/scan/fused.h"
#include "strata/state/rngs.h"

namespace strata::recurrent {

// Where the reset gate acts. The two give different numbers from the same weights.
enum class GRUForm {
  reset_after,  // on the projected state, r * (h Whn + bhn): Flax, PyTorch, cuDNN, Keras, ONNX with linear_before_reset
  reset_before,  // on the state itself, (r * h) Whn + bhn: Cho et al., the default of ONNX
};

struct GRUOptions {
  GRUForm form = GRUForm::reset_after;
  // A bias on the hidden side too, [3 hidden]. Its part for n, which the reset gate scales, is no sum with the other
  // bias: PyTorch's and linen's weights need it, flax.nnx has none.
  bool recurrent_bias = false;
  Activation gate = sigmoid;
  Activation activation = strata::tanh;
  nn::Initializer kernel_init = nn::initializers::lecun_normal();
  nn::Initializer recurrent_kernel_init = nn::initializers::orthogonal();
  nn::Initializer bias_init = nn::initializers::zeros();
  std::optional<DType> dtype = {};  // to form products in; by default the promoted type of their factors
  DType param_dtype = DType::float32;
  bool operator==(const GRUOptions&) const = default;
};

// Gated recurrent unit, one step at a time:
//
//   r = gate(x Wir + bir + h Whr + bhr)
//   z = gate(x Wiz + biz + h Whz + bhz)
//   n = activation(x Win + bin + r (h Whn + bhn))      or, with reset_before, activation(x Win + bin + (r h) Whn + bhn)
//   h' = (1 - z) n + z h
//
// Products of gates are elementwise. Columns of the kernels and biases are in the order r, z, n; bhr, bhz and bhn are
// there only with `recurrent_bias`.
//
// Source: Cho et al. (2014). Paths and values agree with flax.nnx.GRUCell 0.12, with `recurrent_bias` with
// torch.nn.GRU.
struct GRUCell {
  using Carry = HiddenCarry;
  static constexpr int num_feature_axes = 1;

  // dense_i has a kernel [in_features, 3 hidden_features] and a bias; dense_h a kernel [hidden_features, 3
  // hidden_features]. Both draw from the stream `params`. Throws ShapeError if a size is not positive or too large,
  // ValueError if a function is null.
  GRUCell(Index in_features, Index hidden_features, Rngs& rngs, const GRUOptions& gru_options = {});

  // One step. x is [*batch, in_features]; returns the new carry and its h.
  // Throws ShapeError, naming argument, shape and expected shape, if a feature axis or the batch axes do not fit.
  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) const;

  // The same with another h, of the same shape, in the products with recurrent kernels.
  [[nodiscard]] Step<Carry> step_with_h(const Carry& carry, const Tensor& x, const Tensor& h) const;

  // Zeros of [*batch, hidden_features] for inputs of shape [*batch, in_features].
  [[nodiscard]] Carry initial_carry(const Shape& input) const;

  // How the fused operation runs this cell; empty if it resets before the product or its activations are not the
  // standard ones.
  [[nodiscard]] std::optional<internal::FusedCell> fused() const;

  nn::Linear dense_i;
  nn::Linear dense_h;
  GRUOptions options;

  STRATA_FIELDS(dense_i, dense_h, options)
};

}  // namespace strata::recurrent
