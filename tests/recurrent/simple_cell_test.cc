// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/simple_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "recurrent/cells.h"
#include "strata/nn/activations.h"
#include "strata/recurrent/rnn.h"
#include "strata/tensor/error.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::within;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

SimpleCell one_unit(const SimpleCellOptions& options) {
  Rngs rngs(0);
  SimpleCell cell(1, 1, rngs, options);
  cell.dense_i.kernel.set_value(full({1, 1}, 2));
  cell.dense_i.bias->set_value(full({1}, -1));
  cell.dense_h.kernel.set_value(full({1, 1}, 0.5));
  return cell;
}

// By hand, from x = 1, 0.25 and h = 0: 2 x - 1 + 0.5 h, with the residual 2 x - 1 + 1.5 h.
TEST(SimpleCell, AppliesTanhToBothProductsAndTheBias) {
  SimpleCell cell = one_unit({});
  const double first = std::tanh(1.0);
  const Tensor expected = tensor({first, std::tanh(-0.5 + 0.5 * first)}, {2, 1});
  EXPECT_EQ(difference(scan(cell, tensor({1.0f, 0.25f}, {2, 1})).y, expected, within(1e-6)), "");
}

TEST(SimpleCell, AppliesRelu) {
  SimpleCell cell = one_unit({.activation = relu});
  EXPECT_EQ(elements(scan(cell, tensor({1.0f, 0.25f, 1.0f}, {3, 1})).y), (std::vector<double>{1, 0, 1}));
}

TEST(SimpleCell, AddsTheResidualBeforeTheActivation) {
  SimpleCell cell = one_unit({.activation = relu, .residual = true});
  EXPECT_EQ(elements(scan(cell, tensor({1.0f, 0.25f}, {2, 1})).y), (std::vector<double>{1, 1}));
  EXPECT_EQ(elements(internal::scan_by_steps(cell, tensor({1.0f, 0.25f}, {2, 1}), {}).y), (std::vector<double>{1, 1}));
}

TEST(SimpleCell, RefusesWhatDoesNotFit) {
  Rngs rngs(0);
  const SimpleCell cell(2, 3, rngs);
  EXPECT_THAT(
      [&] {
        (void)cell(cell.initial_carry({4, 2}), ones({4, 5}));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("[4, 5]"), HasSubstr("[*batch, 2]"))));
  EXPECT_THAT(
      [&] {
        (void)cell({.h = zeros({4, 2})}, ones({4, 2}));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("`h`"), HasSubstr("[4, 2]"), HasSubstr("[4, 3]"))));
  EXPECT_THROW(SimpleCell(0, 3, rngs), ShapeError);
  EXPECT_THROW(SimpleCell(2, 0, rngs), ShapeError);
}

TEST(SimpleCell, DrawsHalfPrecisionParametersInFloat32) {
  Rngs rngs(0);
  Rngs same(0);
  const SimpleCell half(3, 4, rngs, {.param_dtype = DType::bfloat16});
  EXPECT_TRUE(identical(half.dense_h.kernel, SimpleCell(3, 4, same).dense_h.kernel.value().astype(DType::bfloat16)));
}

TEST(SimpleCell, DrawsTheHiddenKernelFirst) {
  Rngs rngs(0);
  const SimpleCell cell(3, 4, rngs);
  Rngs same(0);
  EXPECT_TRUE(
      identical(cell.dense_h.kernel, nn::initializers::orthogonal()(same.draw("params"), {4, 4}, DType::float32)));
}

TEST(SimpleCell, HasGradientsWithOtherFunctions) {
  Rngs rngs(0);
  SimpleCell cell(2, 3, rngs, {.activation = nn::softplus, .residual = true, .param_dtype = DType::float64});
  EXPECT_FALSE(cell.fused().has_value());
  const auto f = [&](const Tensor& input, const Tensor& kernel) {
    cell.dense_h.kernel.set_value(kernel);
    return scan(cell, input, {.seq_lengths = tensor({3, 1}), .reverse = true, .keep_order = true}).y;
  };
  const Tensor kernel = cell.dense_h.kernel;
  support::expect_gradients_match(f, random::normal(random::key(1), {2, 3, 2}, DType::float64), kernel);
}

}  // namespace
}  // namespace strata::recurrent
