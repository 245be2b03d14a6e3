// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/activations.h"

#include <gtest/gtest.h>

#include <limits>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/reduce.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata::nn {
namespace {

using support::difference;
using support::within;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Function = Tensor (*)(const Tensor&);

void expect_values(Function f, const Tensor& x, const Tensor& expected) {
  EXPECT_EQ(difference(f(x), expected, within(1e-12)), "");
}

void expect_slopes(Function f, const Tensor& x, const Tensor& expected) {
  GradientTape tape;
  const Tensor watched = tape.watch(x);
  EXPECT_EQ(difference(tape.gradient(sum(f(watched)), {watched})[0], expected, within(1e-12)), "");
}

// Away from the corners of the piecewise functions.
const Tensor& points() {
  static const Tensor x = tensor({-7.5, -3.5, -2.0, -0.6, -0.1, 0.2, 0.9, 2.5, 3.5, 6.5});
  return x;
}

TEST(Activations, GradientsMatchCentralDifferences) {
  for (const Function f : std::initializer_list<Function>{
           identity, relu6, hard_sigmoid, hard_tanh, hard_silu, silu, softplus, log_sigmoid, soft_sign, gelu,
           exact_gelu, selu, [](const Tensor& x) { return leaky_relu(x); }, [](const Tensor& x) { return elu(x, 0.7); },
           [](const Tensor& x) { return celu(x, 0.7); }, [](const Tensor& x) { return glu(x); },
           [](const Tensor& x) { return standardize(x); }}) {
    support::expect_gradients_match(f, points());
  }
}

TEST(Relu6, LimitsToSixAndIsFlatAtItsCorners) {
  expect_values(relu6, tensor({-1.0, 0.0, 3.0, 6.0, 7.0}), tensor({0.0, 0.0, 3.0, 6.0, 6.0}));
  expect_slopes(relu6, tensor({0.0, 3.0, 6.0}), tensor({0.0, 1.0, 0.0}));
}

TEST(HardSigmoid, IsALineOfSlopeOneSixthAndFlatAtItsCorners) {
  expect_values(hard_sigmoid, tensor({-4.0, -3.0, 0.0, 1.5, 3.0, 4.0}), tensor({0.0, 0.0, 0.5, 0.75, 1.0, 1.0}));
  expect_slopes(hard_sigmoid, tensor({-3.0, 0.0, 3.0}), tensor({0.0, 1.0 / 6, 0.0}));
}

TEST(HardTanh, PassesTheGradientAtItsCorners) {
  expect_values(hard_tanh, tensor({-2.0, -1.0, 0.5, 2.0}), tensor({-1.0, -1.0, 0.5, 1.0}));
  expect_slopes(hard_tanh, tensor({-2.0, -1.0, 1.0, 2.0}), tensor({0.0, 1.0, 1.0, 0.0}));
}

TEST(HardSilu, IsZeroAndTheIdentityOutside) {
  expect_values(hard_silu, tensor({-3.0, 1.5, 3.0, 4.0}), tensor({0.0, 1.125, 3.0, 4.0}));
}

TEST(Silu, IsXTimesSigmoid) {
  expect_values(silu, tensor({-1.0, 0.0, 2.0}), tensor({-0.2689414213699951, 0.0, 1.7615941559557649}));  // numpy
}

TEST(Softplus, DoesNotOverflow) {
  expect_values(softplus, tensor({-1000.0, 0.0, 1000.0, infinity}),
                tensor({0.0, 0.6931471805599453, 1000.0, infinity}));
  expect_slopes(softplus, tensor({-1000.0, 0.0, 1000.0}), tensor({0.0, 0.5, 1.0}));
}

TEST(LogSigmoid, DoesNotOverflow) {
  expect_values(log_sigmoid, tensor({-1000.0, 0.0, 1000.0}), tensor({-1000.0, -0.6931471805599453, 0.0}));
}

TEST(SoftSign, IsSmoothAtZero) {
  expect_values(soft_sign, tensor({-1.0, 0.0, 3.0}), tensor({-0.5, 0.0, 0.75}));
  expect_slopes(soft_sign, tensor({0.0, 1.0}), tensor({1.0, 0.25}));
}

// x * 0.5 * (1 + tanh(...)) and x * 0.5 * (1 + erf(x / sqrt(2))), numpy and math.erf.
TEST(Gelu, HasAnApproximateAndAnExactForm) {
  expect_values(gelu, tensor({1.0, -1.0}), tensor({0.8411919906082768, -0.15880800939172324}));
  expect_values(exact_gelu, tensor({1.0, -1.0}), tensor({0.8413447460685429, -0.15865525393145707}));
}

TEST(SoftSign, HasItsSlopeFarFromZero) {
  // 1 / (1 + |x|)^2
  expect_slopes([](const Tensor& x) { return soft_sign(x) * 1e12; }, tensor({-999999.0, 999999.0}), tensor({1.0, 1.0}));
}

// The limits at -infinity, as PyTorch's; the identity on the other side.
TEST(Activations, OfHugeNumbers) {
  const Tensor huge = tensor({-3e38F, -1e30F, 1e30F, 3e38F});
  for (const Function f : {silu, gelu, exact_gelu, hard_silu}) {
    EXPECT_EQ(difference(f(huge), tensor({0.0F, 0.0F, 1e30F, 3e38F}), within(0)), "");
  }
  EXPECT_EQ(difference(softplus(huge), tensor({0.0F, 0.0F, 1e30F, 3e38F}), within(0)), "");
  EXPECT_EQ(difference(log_sigmoid(huge), tensor({-3e38F, -1e30F, 0.0F, 0.0F}), within(0)), "");
}

TEST(LeakyRelu, HasTheSlopeOneAtZero) {
  expect_values([](const Tensor& x) { return leaky_relu(x, 0.25); }, tensor({-2.0, 0.0, 2.0}),
                tensor({-0.5, 0.0, 2.0}));
  expect_slopes([](const Tensor& x) { return leaky_relu(x, 0.25); }, tensor({-2.0, 0.0}), tensor({0.25, 1.0}));
}

TEST(Elu, SlopesAtZeroAreThoseFromTheLeft) {
  expect_slopes([](const Tensor& x) { return elu(x, 0.5); }, tensor({0.0}), tensor({0.5}));
  expect_slopes([](const Tensor& x) { return celu(x, 2.0); }, tensor({0.0}), tensor({1.0}));
  expect_slopes(selu, tensor({0.0}), tensor({1.0507009873554805 * 1.6732632423543772}));
}

TEST(Elu, DoesNotOverflowWhereItIsNotChosen) {
  expect_values([](const Tensor& x) { return elu(x); }, tensor({-1000.0, 1000.0}), tensor({-1.0, 1000.0}));
  expect_slopes([](const Tensor& x) { return elu(x); }, tensor({-1000.0, 1000.0}), tensor({0.0, 1.0}));
}

TEST(Activations, NaNStaysNaN) {
  for (const Function f : std::initializer_list<Function>{relu6, hard_sigmoid, hard_tanh, hard_silu, silu, softplus,
                                                          log_sigmoid, soft_sign, gelu, exact_gelu, selu}) {
    expect_values(f, tensor({nan}), tensor({nan}));
  }
}

TEST(Activations, TakeScalarsAndNothing) {
  EXPECT_EQ(gelu(scalar(1.0f)).shape(), Shape{});
  EXPECT_EQ(selu(zeros({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(standardize(zeros({0, 3})).shape(), (Shape{0, 3}));
}

TEST(Glu, MultipliesTheFirstHalfByTheSigmoidOfTheSecond) {
  EXPECT_TRUE(identical(glu(tensor<float>({3, 4, 0, 0}, {2, 2}), 0), tensor<float>({1.5, 2}, {1, 2})));
}

TEST(Glu, RefusesAnOddSize) { EXPECT_THROW((void)glu(zeros({3})), ShapeError); }

TEST(Standardize, GivesMeanZeroAndVarianceOne) {
  EXPECT_TRUE(
      identical(standardize(tensor<float>({1, 5, 0, 4}, {2, 2}), -1, 0), tensor<float>({-1, 1, -1, 1}, {2, 2})));
}

TEST(Standardize, RefusesAnAxisThatIsNotThere) {
  EXPECT_THROW((void)standardize(zeros({3}), 1), ShapeError);
  EXPECT_THROW((void)standardize(scalar(1.0f)), ShapeError);
}

}  // namespace
}  // namespace strata::nn
