// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/initializers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "strata/tensor/error.h"
#include "support/compare.h"

namespace strata::nn {
namespace {

using initializers::Distribution;
using initializers::FanMode;
using support::difference;
using support::exactly;
using support::within;

const RandomKey key42 = random::key(42);

// Expected numbers are those of flax.nnx.initializers (Flax 0.12.8, JAX 0.10.2) for key(42), in row-major order.
void expect_first(const Initializer& init, const Shape& shape, std::initializer_list<float> expected,
                  const support::Tolerance& tolerance = exactly) {
  const Tensor x = init(key42, shape);
  EXPECT_EQ(x.shape(), shape);
  const Tensor flat = x.reshape({-1}).slice(0, static_cast<Index>(expected.size()));
  EXPECT_EQ(difference(flat, tensor(expected), tolerance), "") << init;
}

// Flax factorizes in float32.
constexpr support::Tolerance factorized = within(1e-6);

TEST(LecunNormal, GivesTheNumbersOfFlax) {
  expect_first(initializers::lecun_normal(), {4, 6},
               {-0.015356816351413727F, 0.25259655714035034F, 0.16022558510303497F, 0.08327864110469818F});
}

TEST(LecunNormal, CountsTheWindowOfAConvolutionAsInputs) {
  expect_first(initializers::lecun_normal(), {3, 3, 2, 4},
               {-0.007239271886646748F, 0.11907514929771423F, 0.07553105801343918F, 0.039257925003767014F});
}

TEST(LecunUniform, GivesTheNumbersOfFlax) {
  expect_first(initializers::lecun_uniform(), {4, 6},
               {-0.019555600360035896F, 0.311417818069458F, 0.2013881355524063F, 0.10568295419216156F});
}

TEST(GlorotNormal, GivesTheNumbersOfFlax) {
  expect_first(initializers::glorot_normal(), {4, 6},
               {-0.013735552318394184F, 0.22592920064926147F, 0.14331009984016418F, 0.07448667287826538F});
}

TEST(GlorotUniform, GivesTheNumbersOfFlax) {
  expect_first(initializers::glorot_uniform(), {3, 2, 5},
               {-0.012069977819919586F, 0.19221125543117523F, 0.12429945170879364F, 0.06522893160581589F});
}

TEST(HeNormal, GivesTheNumbersOfFlax) {
  expect_first(initializers::he_normal(), {4, 6},
               {-0.021717816591262817F, 0.3572254478931427F, 0.22659318149089813F, 0.11777377128601074F});
}

TEST(HeUniform, GivesTheNumbersOfFlax) {
  expect_first(initializers::he_uniform(), {4, 6},
               {-0.027655795216560364F, 0.44041135907173157F, 0.2848058342933655F, 0.14945827424526215F});
}

TEST(VarianceScaling, TakesAxesByNumber) {
  expect_first(initializers::variance_scaling(1, FanMode::fan_in, Distribution::normal, {.out = {0}}), {7, 4},
               {-0.014152307994663715F, 0.23356592655181885F, 0.14785148203372955F, 0.07677295804023743F});
  expect_first(initializers::variance_scaling(1, FanMode::fan_avg, Distribution::uniform, {.in = {0, 1}}), {2, 3, 4},
               {-0.017491061240434647F, 0.27854058146476746F, 0.18012702465057373F, 0.09452570974826813F});
}

TEST(VarianceScaling, CountsOutputs) {
  expect_first(initializers::variance_scaling(2, FanMode::fan_out, Distribution::truncated_normal), {4, 6},
               {-0.017732521519064903F, 0.29167336225509644F, 0.1850125640630722F, 0.09616187959909439F});
}

// jax.nn.initializers.variance_scaling(1.0, 'fan_geo_avg', 'uniform', batch_axis=0).
TEST(VarianceScaling, TakesTheGeometricMeanAndLeavesBatchAxesOut) {
  expect_first(initializers::variance_scaling(1, FanMode::fan_geo_avg, Distribution::uniform, {.batch = {0}}),
               {2, 3, 12}, {-0.015967080369591713F, 0.25427159667015076F, 0.16443271934986115F, 0.08628977090120316F});
}

TEST(VarianceScaling, TruncatedNormalHasTheStatedVarianceAfterTheCut) {
  const Tensor x = initializers::lecun_normal()(key42, {100, 400});
  double sum = 0;
  for (const float element : x.data<float>()) sum += double{element} * double{element};
  constexpr double standard_error = 6e-5;
  EXPECT_NEAR(sum / 40000, 1.0 / 100, 4 * standard_error);
}

TEST(VarianceScaling, KernelWithoutTheAxisThrows) {
  const Initializer init = initializers::lecun_normal();
  EXPECT_THROW((void)init(key42, {}), ShapeError);
  EXPECT_THROW((void)init(key42, {5}), ShapeError);
  EXPECT_THROW((void)initializers::he_normal({.in = {2}})(key42, {4, 6}), ShapeError);
}

TEST(VarianceScaling, WrongScaleThrows) {
  EXPECT_THROW((void)initializers::variance_scaling(-1, FanMode::fan_in, Distribution::normal), ValueError);
  EXPECT_THROW((void)initializers::variance_scaling(std::nan(""), FanMode::fan_in, Distribution::normal), ValueError);
}

TEST(VarianceScaling, EmptyKernelStaysEmpty) {
  EXPECT_EQ(initializers::lecun_normal()(key42, {0, 6}).shape(), (Shape{0, 6}));
}

TEST(NormalInitializer, GivesTheNumbersOfFlax) {
  expect_first(initializers::normal(0.02), {3, 5},
               {-0.0005660923197865486F, 0.009342636913061142F, 0.00591405900195241F, 0.003070918144658208F});
}

TEST(UniformInitializer, RunsFromZeroToItsScale) {
  expect_first(initializers::uniform(0.1), {3, 5},
               {0.048870958387851715F, 0.06797971576452255F, 0.06162714958190918F, 0.05610160902142525F});
}

TEST(TruncatedNormalInitializer, GivesTheNumbersOfFlax) {
  expect_first(initializers::truncated_normal(0.02), {3, 5},
               {-0.0005403299583122134F, 0.008887615986168385F, 0.00563754141330719F, 0.002930161077529192F});
}

TEST(OrthogonalInitializer, GivesTheMatricesOfFlax) {
  expect_first(initializers::orthogonal(), {4, 4},
               {-0.01835346221923828F, 0.6418787837028503F, 0.5133951902389526F, -0.5692803263664246F}, factorized);
  expect_first(initializers::orthogonal(), {3, 5},
               {-0.012633919715881348F, 0.06853624433279037F, -0.6431459784507751F, 0.40626060962677F}, factorized);
}

TEST(OrthogonalInitializer, FlattensAllAxesButTheColumns) {
  expect_first(initializers::orthogonal(2), {2, 2, 3},
               {-0.03307747840881348F, 1.9597400426864624F, -0.2914019823074341F, 0.179438054561615F}, factorized);
}

TEST(OrthogonalInitializer, TakesAnyAxisAsColumns) {
  expect_first(
      initializers::orthogonal(1, 0), {3, 4},
      {-0.01653873920440674F, 0.0897190272808075F, -0.8419257998466492F, 0.5318253040313721F, 0.9798700213432312F},
      factorized);
}

TEST(OrthogonalInitializer, FewerThanTwoAxesThrow) {
  EXPECT_THROW((void)initializers::orthogonal()(key42, {4}), ShapeError);
  EXPECT_THROW((void)initializers::orthogonal(1, 2)(key42, {4, 4}), ShapeError);
}

TEST(DeltaOrthogonal, IsOrthogonalInTheMiddleAndZeroElsewhere) {
  const Tensor kernel = initializers::delta_orthogonal()(key42, {4, 3, 2, 4});
  const Tensor middle = initializers::orthogonal()(key42, {2, 4});
  for (Index row = 0; row < 4; ++row) {
    for (Index column = 0; column < 3; ++column) {
      const bool is_middle = row == 1 && column == 1;
      const Tensor expected = is_middle ? middle : initializers::zeros()(key42, {2, 4});
      EXPECT_TRUE(identical(kernel[row][column], expected)) << row << ", " << column;
    }
  }
}

TEST(DeltaOrthogonal, WrongShapeThrows) {
  const Initializer init = initializers::delta_orthogonal();
  EXPECT_THROW((void)init(key42, {2, 4}), ShapeError);
  EXPECT_THROW((void)init(key42, {3, 4, 2}), ShapeError);
  EXPECT_THROW((void)init(key42, {1, 1, 1, 1, 2, 4}), ShapeError);
}

TEST(Constants, FillAnyShapeAndType) {
  EXPECT_TRUE(identical(initializers::zeros()(key42, {2}, DType::int32), tensor({0, 0})));
  EXPECT_TRUE(identical(initializers::ones()(key42, {}, DType::boolean), scalar(true)));
  EXPECT_TRUE(identical(initializers::constant(0.5)(key42, {1, 2}), tensor({0.5F, 0.5F}, {1, 2})));
}

TEST(Initializers, DrawHalfPrecisionInFloat32) {
  const Initializer init = initializers::he_normal();
  EXPECT_TRUE(identical(init(key42, {4, 6}, DType::bfloat16), init(key42, {4, 6}).astype(DType::bfloat16)));
}

TEST(Initializers, IntegerTypeThrows) {
  EXPECT_THROW((void)initializers::normal()(key42, {2}, DType::int32), DTypeError);
  EXPECT_THROW((void)initializers::orthogonal()(key42, {2, 2}, DType::int32), DTypeError);
}

TEST(Initializers, AreEqualIfNameAndArgumentsAre) {
  EXPECT_EQ(initializers::normal(0.02), initializers::normal(0.02));
  EXPECT_NE(initializers::normal(0.02), initializers::normal(0.03));
  EXPECT_NE(initializers::normal(0.02), initializers::truncated_normal(0.02));
  EXPECT_NE(initializers::lecun_normal(), initializers::lecun_normal({.in = {0}}));
}

TEST(Initializers, PrintTheCallThatMakesThem) {
  std::ostringstream out;
  out << initializers::variance_scaling(2, FanMode::fan_out, Distribution::uniform, {.in = {0, 1}});
  EXPECT_EQ(out.str(), "variance_scaling(2, fan_out, uniform, in=[0, 1])");
  EXPECT_EQ(to_string(initializers::orthogonal(1, 0)), "orthogonal(column_axis=0)");
  EXPECT_EQ(to_string(initializers::zeros()), "zeros()");
}

TEST(Initializers, MayBeOfTheUsersOwn) {
  const Initializer init("counting()", [](RandomKey, const Shape& shape, DType dtype) {
    return Tensor(std::span<const float>(std::vector<float>{1, 2, 3}), shape).astype(dtype);
  });
  EXPECT_TRUE(identical(init(key42, {3}, DType::int32), tensor({1, 2, 3})));
}

TEST(Initializer, RefusesAnEmptyFunction) { EXPECT_THROW(Initializer("mine", nullptr), ValueError); }

TEST(Initializer, RefusesAResultThatWasNotAskedFor) {
  const Initializer mine("mine(7)", [](RandomKey, const Shape&, DType) { return tensor({7.0F}); });
  EXPECT_EQ(mine(key42, {1}).item<float>(), 7);
  EXPECT_THAT(
      [&] {
        (void)mine(key42, {2, 3});
      },
      testing::ThrowsMessage<ShapeError>("[Initializer] mine(7) gave float32[1], expected float32[2, 3]."));
  EXPECT_THAT([&] { (void)mine(key42, {1}, DType::float64); },
              testing::ThrowsMessage<DTypeError>("[Initializer] mine(7) gave float32[1], expected float64[1]."));
}

}  // namespace
}  // namespace strata::nn
