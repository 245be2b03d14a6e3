// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/gru_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recurrent/cells.h"
#include "strata/nn/activations.h"
#include "strata/recurrent/rnn.h"
#include "strata/tensor/error.h"
#include "strata/tensor/linear_algebra.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::within;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// One set of weights for the three formulas that are called GRU, [hidden, in] and [hidden, hidden] for r, z, n.
const Tensor weight_ih =
    tensor<float>({0, 0.25f, -0.25f, 0, 0.5f, 0, 0.5f, 0.25f, -0.25f, 0.375f, -0.25f, 0.375f}, {6, 2});
const Tensor weight_hh =
    tensor<float>({0.25f, -0.25f, 0.375f, 0.5f, 0, 0.25f, 0.375f, -0.5f, 0.375f, -0.375f, -0.5f, -0.125f}, {6, 2});
const Tensor bias_ih = tensor<float>({0, 0.5f, 0.5f, 0.25f, 0.375f, 0.125f});
const Tensor bias_hh = tensor<float>({-0.25f, 0, -0.5f, 0.25f, 0, -0.25f});

const Tensor x = tensor<float>({0.75f, 0.125f, -0.125f, -0.25f, 0.125f, 0.125f}, {3, 2});
const HiddenCarry start{.h = tensor<float>({0.125f, -0.25f})};

GRUCell cell_with(const GRUOptions& options) {
  Rngs rngs(0);
  GRUCell cell(2, 2, rngs, options);
  cell.dense_i.kernel.set_value(transpose(weight_ih));
  cell.dense_i.bias->set_value(bias_ih);
  cell.dense_h.kernel.set_value(transpose(weight_hh));
  if (cell.dense_h.bias) cell.dense_h.bias->set_value(bias_hh);
  return cell;
}

// PyTorch 2.11; ONNX Runtime 1.32 with linear_before_reset, flax.linen 0.12.
TEST(GRUCell, ResetsAfterTheProductWithAllBiases) {
  GRUCell cell = cell_with({.recurrent_bias = true});
  const Tensor expected = tensor({0.19538331, -0.2299346, 0.2859221, -0.1952858, 0.36410612, -0.16158381}, {3, 2});
  EXPECT_EQ(difference(scan(cell, x, {.initial_carry = start}).y, expected, within(1e-6)), "");
  EXPECT_EQ(difference(internal::scan_by_steps(cell, x, {.initial_carry = start}).y, expected, within(1e-6)), "");
}

// ONNX Runtime 1.32 without linear_before_reset.
TEST(GRUCell, ResetsBeforeTheProduct) {
  GRUCell cell = cell_with({.form = GRUForm::reset_before, .recurrent_bias = true});
  const Tensor expected = tensor({0.1986203, -0.25522143, 0.2973305, -0.23874128, 0.37918144, -0.21500157}, {3, 2});
  EXPECT_EQ(difference(scan(cell, x, {.initial_carry = start}).y, expected, within(1e-6)), "");
}

// flax.nnx 0.12, whose cell has no hidden bias: those of r and z are folded into the input's.
TEST(GRUCell, ResetsAfterTheProductWithoutTheHiddenBias) {
  GRUCell cell = cell_with({});
  cell.dense_i.bias->set_value(tensor<float>({-0.25f, 0.5f, 0, 0.5f, 0.375f, 0.125f}));
  const Tensor expected = tensor({0.19538333, -0.19492756, 0.28270692, -0.11727818, 0.3556435, -0.06034251}, {3, 2});
  EXPECT_EQ(difference(scan(cell, x, {.initial_carry = start}).y, expected, within(1e-6)), "");
}

TEST(GRUCell, HasNoHiddenBiasUnlessAsked) {
  Rngs rngs(0);
  EXPECT_FALSE(GRUCell(2, 3, rngs).dense_h.bias.has_value());
  EXPECT_EQ(GRUCell(2, 3, rngs, {.recurrent_bias = true}).dense_h.bias->value().shape(), Shape{9});
}

TEST(GRUCell, RefusesWhatDoesNotFit) {
  Rngs rngs(0);
  const GRUCell cell(2, 3, rngs);
  EXPECT_THAT(
      [&] {
        (void)cell(cell.initial_carry({4, 2}), ones({4, 5}));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("[4, 5]"), HasSubstr("[*batch, 2]"))));
  EXPECT_THAT(
      [&] {
        (void)cell(cell.initial_carry({4, 2}), ones({3, 2}));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("`h`"), HasSubstr("[4, 3]"), HasSubstr("[3, 3]"))));
  EXPECT_THAT(
      [&] {
        (void)cell({.h = zeros({4, 3}, DType::int64)}, ones({4, 2}));
      },
      ThrowsMessage<DTypeError>(HasSubstr("`h`")));
  EXPECT_THROW(GRUCell(0, 3, rngs), ShapeError);
  EXPECT_THROW(GRUCell(2, 0, rngs), ShapeError);
}

TEST(GRUCell, DrawsHalfPrecisionParametersInFloat32) {
  Rngs rngs(0);
  Rngs same(0);
  const GRUCell half(3, 4, rngs, {.param_dtype = DType::bfloat16});
  EXPECT_TRUE(identical(half.dense_h.kernel, GRUCell(3, 4, same).dense_h.kernel.value().astype(DType::bfloat16)));
}

TEST(GRUCell, DrawsRowsOfItsHiddenKernelOrthonormal) {
  Rngs rngs(0);
  const GRUCell cell(3, 4, rngs);
  const Tensor kernel = cell.dense_h.kernel;
  EXPECT_EQ(difference(matmul(kernel, transpose(kernel)), eye(4), within(1e-5)), "");
}

// Gradients of a scan by x, the carry and all parameters, over a batch with padding.
void expect_gradients(const GRUOptions& options) {
  Rngs rngs(0);
  GRUCell cell(2, 3, rngs, options);
  const auto f = [&](const Tensor& input, const Tensor& h, const Tensor& input_kernel, const Tensor& kernel,
                     const Tensor& input_bias, const Tensor& bias) {
    cell.dense_i.kernel.set_value(input_kernel);
    cell.dense_i.bias->set_value(input_bias);
    cell.dense_h.kernel.set_value(kernel);
    cell.dense_h.bias->set_value(bias);
    const auto result = scan(cell, input, {.seq_lengths = tensor({3, 1}), .initial_carry = HiddenCarry{.h = h}});
    return concatenate({result.y.reshape({-1}), result.carry.h.reshape({-1})}, 0);
  };
  const auto normal = [](std::int64_t seed, const Shape& shape) {
    return random::normal(random::key(seed), shape, DType::float64);
  };
  support::expect_gradients_match(f, normal(1, {2, 3, 2}), normal(2, {2, 3}), normal(3, {2, 9}), normal(4, {3, 9}),
                                  normal(5, {9}), normal(6, {9}));
}

TEST(GRUCell, HasGradientsWithResetBefore) {
  expect_gradients({.form = GRUForm::reset_before, .recurrent_bias = true, .param_dtype = DType::float64});
}

TEST(GRUCell, HasGradientsAsOneOperation) { expect_gradients({.recurrent_bias = true, .param_dtype = DType::float64}); }

TEST(GRUCell, HasGradientsWithOtherFunctions) {
  expect_gradients({.recurrent_bias = true, .activation = nn::softplus, .param_dtype = DType::float64});
}

TEST(GRUCell, RunsAsOneOperationOnlyInTheFormThatIsSupported) {
  Rngs rngs(0);
  EXPECT_TRUE(GRUCell(2, 3, rngs).fused().has_value());
  EXPECT_FALSE(GRUCell(2, 3, rngs, {.form = GRUForm::reset_before}).fused().has_value());
  EXPECT_FALSE(GRUCell(2, 3, rngs, {.gate = strata::tanh}).fused().has_value());
}

}  // namespace
}  // namespace strata::recurrent
