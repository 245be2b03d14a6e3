// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/lstm_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/nn/activations.h"
#include "strata/recurrent/rnn.h"
#include "strata/tensor/error.h"
#include "strata/tensor/index.h"
#include "strata/tensor/linear_algebra.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::within;
using support::within_scaled;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// The layout of PyTorch: rows of the gates i, f, g, o.
const Tensor torch_weight_ih = tensor<float>({-0.25f, 0.375f, -0.25f, 0.375f, 0.375f, -0.125f, 0.375f, -0.5f,  //
                                              -0.375f, 0.25f, 0.0f, 0.25f, 0.375f, 0.5f, 0.375f, 0.0f},
                                             {8, 2});
const Tensor torch_weight_hh = tensor<float>({0.375f, -0.375f, -0.5f, -0.125f, -0.25f, 0.0f, 0.0f, -0.5f,  //
                                              -0.25f, 0.0f, -0.25f, -0.375f, 0.125f, 0.0f, 0.375f, -0.375f},
                                             {8, 2});
const Tensor torch_bias_ih = tensor<float>({0.375f, 0.125f, -0.25f, 0.0f, -0.125f, 0.375f, 0.25f, 0.0f});
const Tensor torch_bias_hh = tensor<float>({0.0f, -0.25f, 0.25f, 0.125f, 0.5f, 0.0f, -0.125f, 0.375f});

// The same weights in the layout of ONNX: rows of the gates i, o, f, g.
const Tensor onnx_w = tensor<float>({-0.25f, 0.375f, -0.25f, 0.375f, 0.375f, 0.5f, 0.375f, 0.0f,  //
                                     0.375f, -0.125f, 0.375f, -0.5f, -0.375f, 0.25f, 0.0f, 0.25f},
                                    {8, 2});
const Tensor onnx_r = tensor<float>({0.375f, -0.375f, -0.5f, -0.125f, 0.125f, 0.0f, 0.375f, -0.375f,  //
                                     -0.25f, 0.0f, 0.0f, -0.5f, -0.25f, 0.0f, -0.25f, -0.375f},
                                    {8, 2});
const Tensor onnx_b = tensor<float>({0.375f, 0.125f, 0.25f, 0.0f, -0.25f, 0.0f, -0.125f, 0.375f,  //
                                     0.0f, -0.25f, -0.125f, 0.375f, 0.25f, 0.125f, 0.5f, 0.0f});

const Tensor x = tensor<float>({-0.875f, 1.0f, 0.0f, -0.5f, 0.0f, -0.375f}, {3, 2});
const LSTMCarry start{.c = tensor<float>({-0.75f, -0.75f}), .h = tensor<float>({-0.625f, -0.875f})};

// Expected numbers of the case: PyTorch 2.11; ONNX Runtime 1.32 and flax.nnx 0.12 agree.
const Tensor expected_y = tensor({0.15011002, 0.1282616, 0.118374914, 0.120969586, 0.1270207, 0.11731307}, {3, 2});
const Tensor expected_c = tensor({0.26637393, 0.20067047});

OptimizedLSTMCell optimized(const Tensor& input, const Tensor& recurrent, const Tensor& bias) {
  Rngs rngs(0);
  OptimizedLSTMCell cell(2, 2, rngs);
  cell.dense_i.kernel.set_value(transpose(input));
  cell.dense_h.kernel.set_value(transpose(recurrent));
  cell.dense_h.bias->set_value(bias);
  return cell;
}

LSTMCell separate(const OptimizedLSTMCell& from) {
  Rngs rngs(0);
  LSTMCell cell(2, 2, rngs);
  const std::vector<Tensor> input = split_axis(from.dense_i.kernel, 4, 1);
  const std::vector<Tensor> recurrent = split_axis(from.dense_h.kernel, 4, 1);
  const std::vector<Tensor> bias = split_axis(*from.dense_h.bias, 4, 0);
  nn::Linear* const inputs[] = {&cell.ii, &cell.if_, &cell.ig, &cell.io};
  nn::Linear* const recurrents[] = {&cell.hi, &cell.hf, &cell.hg, &cell.ho};
  for (std::size_t gate = 0; gate < 4; ++gate) {
    inputs[gate]->kernel.set_value(input[gate]);
    recurrents[gate]->kernel.set_value(recurrent[gate]);
    recurrents[gate]->bias->set_value(bias[gate]);
  }
  return cell;
}

OptimizedLSTMCell from_torch() { return optimized(torch_weight_ih, torch_weight_hh, torch_bias_ih + torch_bias_hh); }

TEST(OptimizedLSTMCell, AgreesWithPyTorchsWeights) {
  OptimizedLSTMCell cell = from_torch();
  const auto [carry, y] = scan(cell, x, {.initial_carry = start});
  EXPECT_EQ(difference(y, expected_y, within(1e-6)), "");
  EXPECT_EQ(difference(carry.h, expected_y[2], within(1e-6)), "");
  EXPECT_EQ(difference(carry.c, expected_c, within(1e-6)), "");
}

TEST(OptimizedLSTMCell, AgreesWithOnnxsWeightsInAnotherOrder) {
  const auto in_our_order = [](const Tensor& w) {
    const std::vector<Tensor> iofg = split_axis(w, 4, 0);
    return concatenate({iofg[0], iofg[2], iofg[3], iofg[1]}, 0);
  };
  OptimizedLSTMCell cell = optimized(in_our_order(onnx_w), in_our_order(onnx_r),
                                     in_our_order(onnx_b.slice(0, 8)) + in_our_order(onnx_b.slice(8, 16)));
  EXPECT_EQ(difference(scan(cell, x, {.initial_carry = start}).y, expected_y, within(1e-6)), "");
}

TEST(LSTMCell, AgreesWithTheOptimizedCell) {
  LSTMCell cell = separate(from_torch());
  const auto [carry, y] = scan(cell, x, {.initial_carry = start});
  EXPECT_EQ(difference(y, expected_y, within(1e-6)), "");
  EXPECT_EQ(difference(carry.c, expected_c, within(1e-6)), "");
}

TEST(LSTMCell, TellsMemoryFromOutput) {
  LSTMCell cell = separate(from_torch());
  const Tensor swapped = tensor({0.1700476, 0.10456192, 0.12688, 0.11046382, 0.13103664, 0.11180378}, {3, 2});
  EXPECT_EQ(
      difference(scan(cell, x, {.initial_carry = LSTMCarry{.c = start.h, .h = start.c}}).y, swapped, within(1e-6)), "");
}

TEST(LSTMCell, StepsLikeTheSequence) {
  const LSTMCell cell = separate(from_torch());
  LSTMCarry carry = start;
  for (Index t = 0; t < 3; ++t) {
    auto step = cell(carry, x[t]);
    EXPECT_EQ(difference(step.y, expected_y[t], within(1e-6)), "");
    EXPECT_TRUE(identical(step.y, step.carry.h));
    carry = step.carry;
  }
  EXPECT_EQ(difference(carry.c, expected_c, within(1e-6)), "");
}

TEST(LSTMCell, LeavesTheCarryAsItWas) {
  const LSTMCell cell = separate(from_torch());
  (void)cell(start, x[0]);
  EXPECT_EQ(elements(start.c), (std::vector<double>{-0.75, -0.75}));
}

TEST(LSTMCell, TakesAnyNumberOfBatchAxes) {
  Rngs rngs(0);
  const LSTMCell cell(2, 3, rngs);
  EXPECT_EQ(cell.initial_carry({2}).c.shape(), Shape{3});
  EXPECT_EQ(cell.initial_carry({5, 4, 2}).h.shape(), (Shape{5, 4, 3}));
  EXPECT_EQ(cell(cell.initial_carry({5, 4, 2}), ones({5, 4, 2})).y.shape(), (Shape{5, 4, 3}));
  EXPECT_EQ(cell(cell.initial_carry({0, 2}), ones({0, 2})).y.shape(), (Shape{0, 3}));
}

TEST(LSTMCell, BeginsWithZerosOfItsParametersType) {
  Rngs rngs(0);
  const LSTMCell cell(2, 3, rngs, {.param_dtype = DType::float64});
  EXPECT_TRUE(identical(cell.initial_carry({4, 2}).c, zeros({4, 3}, DType::float64)));
}

TEST(LSTMCell, RefusesWhatDoesNotFit) {
  Rngs rngs(0);
  const LSTMCell cell(2, 3, rngs);
  const LSTMCarry carry = cell.initial_carry({4, 2});
  EXPECT_THAT(
      [&] {
        (void)cell(carry, ones({4, 5}));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("[4, 5]"), HasSubstr("[*batch, 2]"))));
  EXPECT_THROW((void)cell(carry, scalar(1.0f)), ShapeError);
  EXPECT_THAT(
      [&] {
        (void)cell(carry, ones({1, 2}));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("`c`"), HasSubstr("[4, 3]"), HasSubstr("[1, 3]"))));
  EXPECT_THAT(
      [&] {
        (void)cell({.c = carry.c, .h = zeros({4, 2})}, ones({4, 2}));
      },
      ThrowsMessage<ShapeError>(HasSubstr("`h`")));
  EXPECT_THAT(
      [&] {
        (void)cell({.c = zeros({4, 3}, DType::int32), .h = carry.h}, ones({4, 2}));
      },
      ThrowsMessage<DTypeError>(HasSubstr("`c`")));
  EXPECT_THROW((void)cell.initial_carry({}), ShapeError);
  EXPECT_THROW(LSTMCell(0, 3, rngs), ShapeError);
  EXPECT_THROW(LSTMCell(2, 0, rngs), ShapeError);
  EXPECT_THROW(OptimizedLSTMCell(2, -1, rngs), ShapeError);
}

TEST(LSTMCell, DrawsOrthogonalKernelsForEachGate) {
  Rngs rngs(0);
  const LSTMCell cell(3, 5, rngs);
  for (const nn::Linear* map : {&cell.hi, &cell.hf, &cell.hg, &cell.ho}) {
    const Tensor& kernel = map->kernel;
    EXPECT_EQ(difference(matmul(kernel, transpose(kernel)), eye(5), within(1e-5)), "");
    EXPECT_EQ(elements(*map->bias), std::vector<double>(5, 0));
  }
  EXPECT_FALSE(identical(cell.hi.kernel, cell.hf.kernel));
}

TEST(LSTMCell, DrawsHalfPrecisionParametersInFloat32) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    Rngs rngs(0);
    Rngs same(0);
    const LSTMCell half(3, 4, rngs, {.param_dtype = dtype});
    const LSTMCell single(3, 4, same);
    EXPECT_TRUE(identical(half.hf.kernel, single.hf.kernel.value().astype(dtype)));
    EXPECT_TRUE(identical(half.ig.kernel, single.ig.kernel.value().astype(dtype)));
    Rngs third(0);
    Rngs fourth(0);
    const OptimizedLSTMCell packed(3, 4, third, {.param_dtype = dtype});
    EXPECT_TRUE(identical(packed.dense_h.kernel, OptimizedLSTMCell(3, 4, fourth).dense_h.kernel.value().astype(dtype)));
  }
}

TEST(LSTMCell, DrawsTwelveTimesAndTheOptimizedCellThrice) {
  Rngs rngs(0);
  const LSTMCell cell(3, 4, rngs);
  Rngs twelve(0);
  for (int i = 0; i < 12; ++i) (void)twelve.draw("params");
  EXPECT_EQ(rngs.draw("params"), twelve.draw("params"));

  Rngs other(0);
  const OptimizedLSTMCell packed(3, 4, other);
  Rngs three(0);
  for (int i = 0; i < 3; ++i) (void)three.draw("params");
  EXPECT_EQ(other.draw("params"), three.draw("params"));
}

TEST(LSTMCell, RunsOtherFunctionsStepByStepWithGradients) {
  Rngs rngs(0);
  LSTMCell cell(2, 3, rngs, {.gate = strata::tanh, .activation = nn::softplus, .param_dtype = DType::float64});
  EXPECT_FALSE(cell.fused().has_value());
  const auto f = [&](const Tensor& input, const Tensor& c, const Tensor& h) {
    const auto result = scan(cell, input, {.seq_lengths = tensor({3, 1}), .initial_carry = LSTMCarry{.c = c, .h = h}});
    return concatenate({result.y.reshape({-1}), result.carry.c.reshape({-1})}, 0);
  };
  support::expect_gradients_match(f, random::normal(random::key(1), {2, 3, 2}, DType::float64),
                                  random::normal(random::key(2), {2, 3}, DType::float64),
                                  random::normal(random::key(3), {2, 3}, DType::float64));
}

TEST(LSTMCell, HasGradientsAsOneOperation) {
  Rngs rngs(0);
  OptimizedLSTMCell cell(2, 3, rngs, {.param_dtype = DType::float64});
  const auto f = [&](const Tensor& input, const Tensor& input_kernel, const Tensor& kernel, const Tensor& bias) {
    cell.dense_i.kernel.set_value(input_kernel);
    cell.dense_h.kernel.set_value(kernel);
    cell.dense_h.bias->set_value(bias);
    return scan(cell, input, {.seq_lengths = tensor({3, 1}), .reverse = true}).y;
  };
  const Tensor input_kernel = cell.dense_i.kernel;
  const Tensor kernel = cell.dense_h.kernel;
  support::expect_gradients_match(f, random::normal(random::key(1), {2, 3, 2}, DType::float64), input_kernel, kernel,
                                  random::normal(random::key(2), {12}, DType::float64));
}

}  // namespace
}  // namespace strata::recurrent
