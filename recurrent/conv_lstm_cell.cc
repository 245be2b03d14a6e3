// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/conv_lstm_cell.h"

#include <string>

#include "strata/recurrent/internal/cells/cell_checks.h"
#include "strata/recurrent/internal/cells/split_gates.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent {
namespace {

constexpr const char* cell_name = "ConvLSTMCell";
constexpr Index num_gates = 4;

// Throws unless a grid keeps its size; one of the size of the kernel stands for all.
void check_size_kept(const Shape& kernel_size, const ConvPadding& padding) {
  const Shape grid = kernel_size.append({1});
  if (conv_shape(grid, kernel_size.append({1, 1}), {.padding = padding}) == grid) return;
  throw ValueError("[" + std::string(cell_name) + "] the padding changes the size of a grid under a kernel of " +
                   to_string(kernel_size) + " taps, but the carry has the size of x. Choose PaddingMode::same, or " +
                   "widths that add up to one less than the taps on each axis.");
}

nn::Conv gate_convolution(Index in, Index features, const Shape& kernel_size, Rngs& rngs,
                          const ConvLSTMOptions& options) {
  check_size_kept(kernel_size, options.padding);
  return nn::Conv(in, internal::gate_columns(cell_name, in, features, num_gates), kernel_size, rngs,
                  {.window = {.padding = options.padding},
                   .use_bias = options.use_bias,
                   .kernel_init = options.kernel_init,
                   .bias_init = options.bias_init,
                   .dtype = options.dtype,
                   .param_dtype = options.param_dtype});
}

}  // namespace

template <int SpatialAxes>
ConvLSTMCell<SpatialAxes>::ConvLSTMCell(Index in_features, Index features, const KernelSize& kernel_size, Rngs& rngs,
                                        const ConvLSTMOptions& options)
    : ih{gate_convolution(in_features, features, Shape(kernel_size), rngs, options)},
      hh{gate_convolution(features, features, Shape(kernel_size), rngs, options)} {}

template <int SpatialAxes>
Step<LSTMCarry> ConvLSTMCell<SpatialAxes>::operator()(const Carry& carry, const Tensor& x) const {
  const Index features = hh.kernel.value().size(-2);
  internal::check_input(cell_name, x, ih.kernel.value().size(-2), SpatialAxes);
  internal::check_carry(cell_name, "c", carry.c, x, features);
  internal::check_carry(cell_name, "h", carry.h, x, features);
  const auto [i, g, f, o] = internal::split_gates<num_gates>(ih(x) + hh(carry.h));
  const Tensor new_c = (sigmoid(f + 1) * carry.c + sigmoid(i) * strata::tanh(g)).astype(carry.c.dtype());
  const Tensor new_h = (sigmoid(o) * strata::tanh(new_c)).astype(carry.h.dtype());
  return {{.c = new_c, .h = new_h}, new_h};
}

template <int SpatialAxes>
LSTMCarry ConvLSTMCell<SpatialAxes>::initial_carry(const Shape& input) const {
  const Tensor& kernel = hh.kernel.value();
  const Tensor zero = zeros(internal::carry_shape(cell_name, input, kernel.size(-2), SpatialAxes), kernel.dtype());
  return {.c = zero, .h = zero};
}

template struct ConvLSTMCell<1>;
template struct ConvLSTMCell<2>;
template struct ConvLSTMCell<3>;

}  // namespace strata::recurrent
