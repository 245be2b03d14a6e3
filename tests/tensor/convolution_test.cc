// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/linear_algebra.h"
#include "strata/tensor/reduce.h"
#include "strata/tensor/thread_pool.h"
#include "support/compare.h"
#include "support/gradient_check.h"
#include "support/message_of.h"

namespace strata {
namespace {

using support::difference;
using support::exactly;
using support::expect_gradients_match;
using support::message_of;
using support::within;

constexpr Index huge = std::numeric_limits<Index>::max() / 2;

// Numbers without a pattern.
Tensor waves(const Shape& shape, DType dtype = DType::float64) {
  Tensor x = arange(shape.num_elements()).reshape(shape).astype(DType::float64);
  for (double& element : x.mutable_data<double>()) element = std::sin(element * element + 1.0);
  return x.astype(dtype);
}

// One channel in, one out.
Tensor conv_line(const Tensor& x, const Tensor& kernel, const ConvWindow& window) {
  return conv(x.reshape({-1, 1}), kernel.reshape({-1, 1, 1}), window).reshape({-1});
}

// The sum of the definition, term by term, without padding.
Tensor by_definition(const Tensor& x, const Tensor& kernel, Index stride) {
  const Index windows = (x.size(1) - kernel.size(0)) / stride + 1;
  Tensor y = zeros({x.size(0), windows, kernel.size(2)}, x.dtype());
  for (Index b = 0; b < x.size(0); ++b) {
    for (Index p = 0; p < windows; ++p) {
      Tensor sum = zeros({kernel.size(2)}, x.dtype());
      for (Index t = 0; t < kernel.size(0); ++t) sum = sum + matmul(x[b][p * stride + t], kernel[t]);
      Tensor row = y[b];
      row.set(p, sum);
      y.set(b, row);
    }
  }
  return y;
}

TEST(Conv, DoesNotFlipTheKernel) {
  // By hand: 1*10 + 2*20 + 3*30 = 140, and so on.
  const Tensor y = conv_line(tensor({1, 2, 3, 4}).astype(DType::float32), tensor({10.0f, 20.0f, 30.0f}),
                             {.padding = PaddingMode::valid});
  EXPECT_EQ(difference(y, tensor({140.0f, 200.0f}), exactly), "");
}

TEST(Conv, SumsOverTheInputChannels) {
  // By hand: x [1, 2; 3, 4] times kernel taps [1; 10] and [100; 1000].
  const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  const Tensor kernel = tensor({1.0f, 10.0f, 100.0f, 1000.0f}, {2, 2, 1});
  EXPECT_EQ(difference(conv(x, kernel, {.padding = PaddingMode::valid}), tensor({4321.0f}, {1, 1}), exactly), "");
}

TEST(Conv, PadsByItsMode) {
  const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f});
  const Tensor first_tap = tensor({1.0f, 0.0f, 0.0f, 0.0f});
  const Tensor last_tap = tensor({0.0f, 0.0f, 0.0f, 1.0f});
  // The first tap shows what comes before x, the last what comes after it: 4 taps make 3 positions.
  const auto expect_padded = [&](const ConvPadding& padding, const Tensor& before, const Tensor& after) {
    EXPECT_EQ(difference(conv_line(x, first_tap, {.padding = padding}), before, exactly), "");
    EXPECT_EQ(difference(conv_line(x, last_tap, {.padding = padding}), after, exactly), "");
  };
  expect_padded(PaddingMode::same, tensor({0.0f, 1.0f, 2.0f, 3.0f}), tensor({3.0f, 4.0f, 0.0f, 0.0f}));
  expect_padded(PaddingMode::same_lower, tensor({0.0f, 0.0f, 1.0f, 2.0f}), tensor({2.0f, 3.0f, 4.0f, 0.0f}));
  expect_padded(PaddingMode::valid, tensor({1.0f}), tensor({4.0f}));
  expect_padded(PaddingMode::causal, tensor({0.0f, 0.0f, 0.0f, 1.0f}), tensor({1.0f, 2.0f, 3.0f, 4.0f}));
  expect_padded(PaddingMode::circular, tensor({4.0f, 1.0f, 2.0f, 3.0f}), tensor({3.0f, 4.0f, 1.0f, 2.0f}));
  expect_padded(PaddingMode::reflect, tensor({2.0f, 1.0f, 2.0f, 3.0f}), tensor({3.0f, 4.0f, 3.0f, 2.0f}));
  expect_padded(1, tensor({0.0f, 1.0f, 2.0f}), tensor({3.0f, 4.0f, 0.0f}));
  expect_padded({{0, 2}}, tensor({1.0f, 2.0f, 3.0f}), tensor({4.0f, 0.0f, 0.0f}));
}

// numpy: np.pad([1, 2, 3], (3, 4), mode).
TEST(Conv, ContinuesAShortAxisMoreThanOnce) {
  const Tensor x = tensor({1.0f, 2.0f, 3.0f});
  const Tensor first_tap = tensor({1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f});
  EXPECT_EQ(
      difference(conv_line(x, first_tap, {.padding = PaddingMode::circular}), tensor({1.0f, 2.0f, 3.0f}), exactly), "");
  EXPECT_EQ(difference(conv_line(x, first_tap, {.padding = PaddingMode::reflect}), tensor({2.0f, 3.0f, 2.0f}), exactly),
            "");
  EXPECT_EQ(
      difference(conv_line(tensor({5.0f}), ones({3}), {.padding = PaddingMode::reflect}), tensor({15.0f}), exactly),
      "");
}

TEST(Conv, StridesChooseWindowsAndSameFitsThem) {
  // jax 0.10.2: lax.conv_general_dilated of 1..5 with ones(3), stride 2, 'SAME' and 'VALID'; of 1..6 'SAME'.
  const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f});
  EXPECT_EQ(difference(conv_line(x, ones({3}), {.strides = {2}}), tensor({3.0f, 9.0f, 9.0f}), exactly), "");
  EXPECT_EQ(difference(conv_line(x, ones({3}), {.strides = {2}, .padding = PaddingMode::valid}), tensor({6.0f, 12.0f}),
                       exactly),
            "");
  const Tensor even = tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  EXPECT_EQ(difference(conv_line(even, ones({3}), {.strides = {2}}), tensor({6.0f, 12.0f, 11.0f}), exactly), "");
}

TEST(Conv, DilationsSpreadTapsAndEntries) {
  const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f});
  EXPECT_EQ(difference(conv_line(x, tensor({1.0f, 10.0f}), {.padding = PaddingMode::valid, .kernel_dilation = {2}}),
                       tensor({31.0f, 42.0f}), exactly),
            "");
  EXPECT_EQ(difference(conv_line(tensor({1.0f, 2.0f}), tensor({1.0f, 10.0f}),
                                 {.padding = PaddingMode::valid, .input_dilation = {3}}),
                       tensor({1.0f, 0.0f, 20.0f}), exactly),
            "");
}

TEST(Conv, GroupsDoNotSeeEachOther) {
  // Two channels, each to one output by one tap of its own.
  const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  const Tensor kernel = tensor({10.0f, 100.0f}, {1, 1, 2});
  EXPECT_EQ(difference(conv(x, kernel, {.feature_groups = 2}), tensor({10.0f, 200.0f, 30.0f, 400.0f}, {2, 2}), exactly),
            "");
}

TEST(Conv, IsTheSumOfItsDefinitionAlsoWhereItIsCutIntoParts) {
  const Tensor x = waves({3, 700, 5});
  for (const Index stride : {1, 3}) {
    const Tensor kernel = waves({4, 5, 6});
    const Tensor y = conv(x, kernel, {.strides = {stride}, .padding = PaddingMode::valid});
    EXPECT_EQ(difference(y, by_definition(x, kernel, stride), within(1e-13)), "");
  }
}

TEST(Conv, OfOneTapIsAMatrixProduct) {
  const Tensor x = waves({2, 3, 4, 5});
  const Tensor kernel = waves({1, 1, 5, 6});
  EXPECT_EQ(difference(conv(x, kernel), matmul(x, kernel.reshape({5, 6})), exactly), "");
}

TEST(Conv, TakesAnyNumberOfBatchAxes) {
  const Tensor x = waves({2, 3, 5, 4, 2});
  const Tensor kernel = waves({3, 2, 2, 3});
  const Tensor y = conv(x, kernel);
  EXPECT_EQ(y.shape(), (Shape{2, 3, 5, 4, 3}));
  EXPECT_EQ(difference(conv(x[1][2], kernel), y[1][2], within(1e-14)), "");
}

TEST(Conv, OfNothingIsNothing) {
  EXPECT_EQ(conv(zeros({0, 4, 3}), zeros({3, 3, 2})).shape(), (Shape{0, 4, 2}));
  EXPECT_EQ(conv(zeros({2, 0, 3}), zeros({3, 3, 2})).shape(), (Shape{2, 0, 2}));
  EXPECT_EQ(conv(zeros({2, 4, 3}), zeros({3, 3, 0})).shape(), (Shape{2, 4, 0}));
  EXPECT_EQ(difference(conv(zeros({2, 4, 0}), zeros({3, 0, 2})), zeros({2, 4, 2}), exactly), "");
  EXPECT_EQ(difference(conv(zeros({0, 3}), zeros({3, 3, 2}), {.padding = 2}), zeros({2, 2}), exactly), "");
}

TEST(Conv, GradientsOfNothingAreZero) {
  GradientTape tape;
  const Tensor x = tape.watch(ones({0, 4, 3}));
  const Tensor kernel = tape.watch(ones({3, 3, 2}));
  const auto gradients = tape.gradient(sum(conv(x, kernel)), {x, kernel});
  EXPECT_EQ(gradients[0].shape(), (Shape{0, 4, 3}));
  EXPECT_EQ(difference(gradients[1], zeros({3, 3, 2}), exactly), "");
}

struct GradientCase {
  const char* name;
  Shape x;
  Shape kernel;
  ConvWindow window;
};

class ConvGradient : public testing::TestWithParam<GradientCase> {};

TEST_P(ConvGradient, AgreesWithDifferences) {
  const GradientCase& c = GetParam();
  expect_gradients_match([&](const Tensor& x, const Tensor& kernel) { return conv(x, kernel, c.window); }, waves(c.x),
                         waves(c.kernel));
}

INSTANTIATE_TEST_SUITE_P(
    , ConvGradient,
    testing::Values(GradientCase{"Line", {2, 6, 2}, {3, 2, 3}, {}}, GradientCase{"EvenTaps", {7, 2}, {4, 2, 1}, {}},
                    GradientCase{"OneTap", {2, 3, 2}, {1, 2, 3}, {}},
                    GradientCase{"OneTapWithStride", {2, 5, 2}, {1, 2, 3}, {.strides = {2}}},
                    GradientCase{"Strides", {8, 7, 2}, {3, 2, 2, 2}, {.strides = {3, 2}}},
                    GradientCase{"UnreadEnd", {8, 2}, {2, 2, 2}, {.strides = {3}, .padding = PaddingMode::valid}},
                    GradientCase{"Causal", {2, 5, 2}, {3, 2, 2}, {.padding = PaddingMode::causal}},
                    GradientCase{"Circular", {4, 3, 2}, {3, 4, 2, 1}, {.padding = PaddingMode::circular}},
                    GradientCase{"Reflect", {4, 3, 2}, {3, 4, 2, 1}, {.padding = PaddingMode::reflect}},
                    GradientCase{"ReflectShort", {2, 2}, {7, 2, 1}, {.padding = PaddingMode::reflect}},
                    GradientCase{"Widths", {3, 4, 2}, {3, 2, 2, 1}, {.padding = {{3, 0}, {1, 2}}}},
                    GradientCase{"KernelDilation", {7, 6, 1}, {3, 2, 1, 2}, {.kernel_dilation = {2, 3}}},
                    GradientCase{"InputDilation", {3, 4, 1}, {3, 2, 1, 2}, {.padding = 1, .input_dilation = {3, 2}}},
                    GradientCase{"Everything",
                                 {5, 6, 4},
                                 {2, 3, 2, 6},
                                 {.strides = {2, 3},
                                  .padding = 2,
                                  .input_dilation = {2, 1},
                                  .kernel_dilation = {1, 2},
                                  .feature_groups = 2}},
                    GradientCase{"Depthwise", {5, 3}, {3, 1, 6}, {.feature_groups = 3}},
                    GradientCase{"Volume", {2, 3, 2, 2}, {2, 3, 2, 2, 2}, {}}),
    [](const auto& test) { return test.param.name; });

// Enough rows for several parts.
TEST(Conv, HasTheSameBitsForAnyNumberOfThreads) {
  const Tensor x = waves({4, 33, 35, 8}, DType::float32);
  const Tensor kernel = waves({3, 3, 8, 16}, DType::float32);
  const auto all = [&] {
    GradientTape tape;
    const Tensor watched_x = tape.watch(x), watched_kernel = tape.watch(kernel);
    const Tensor y = conv(watched_x, watched_kernel);
    std::vector<Tensor> results = tape.gradient(sum(y * y), {watched_x, watched_kernel});
    results.push_back(y);
    return results;
  };
  const int before = num_threads();
  set_num_threads(1);
  const std::vector<Tensor> one = all();
  set_num_threads(4);
  const std::vector<Tensor> four = all();
  set_num_threads(before);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(identical(one[i], four[i])) << i;
}

TEST(Conv, RoundsTwoByteFloatsOnce) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    const Tensor x = waves({2, 9, 3}, dtype), kernel = waves({3, 3, 4}, dtype);
    const Tensor wide = conv(x.astype(DType::float32), kernel.astype(DType::float32));
    EXPECT_TRUE(identical(conv(x, kernel), wide.astype(dtype)));
  }
}

TEST(Conv, PromotesElementTypes) {
  EXPECT_EQ(conv(zeros({4, 1}, DType::bfloat16), zeros({3, 1, 1}, DType::float32)).dtype(), DType::float32);
  EXPECT_EQ(conv(zeros({4, 1}, DType::float32), zeros({3, 1, 1}, DType::float64)).dtype(), DType::float64);
  EXPECT_THROW((void)conv(zeros({4, 1}, DType::int32), zeros({3, 1, 1}, DType::int32)), DTypeError);
}

TEST(ConvShape, IsThatOfTheResult) {
  EXPECT_EQ(conv_shape({8, 32, 30, 3}, {3, 3, 3, 16}, {.strides = {2}}), (Shape{8, 16, 15, 16}));
  EXPECT_EQ(conv_shape({10, 3}, {4, 3, 2}, {.padding = PaddingMode::valid, .kernel_dilation = {3}}), (Shape{1, 2}));
}

TEST(ConvShape, IsThatOfTheResultInEveryMode) {
  using enum PaddingMode;
  for (const ConvPadding& padding :
       {ConvPadding(same), ConvPadding(same_lower), ConvPadding(valid), ConvPadding(causal), ConvPadding(circular),
        ConvPadding(reflect), ConvPadding(3), ConvPadding({{2, 0}})}) {
    for (const Index taps : {1, 2, 3}) {
      for (const Index number : {0, 1, 2, 3, 4, 5, 6, 7}) {
        const ConvWindow window{.strides = {1 + number % 2},
                                .padding = padding,
                                .input_dilation = {1 + number / 2 % 2},
                                .kernel_dilation = {1 + number / 4}};
        const Shape x{2, 6, 1}, kernel{taps, 1, 1};
        EXPECT_EQ(conv_shape(x, kernel, window), conv(ones(x), ones(kernel), window).shape())
            << "mode " << static_cast<int>(padding.mode()) << ", taps " << taps << ", number " << number;
      }
    }
  }
  // Four entries and two that continue them, with a zero between any two: 11 positions, 9 windows of 3.
  EXPECT_EQ(conv_shape({4, 1}, {3, 1, 1}, {.padding = circular, .input_dilation = {2}}), (Shape{9, 1}));
}

TEST(Conv, SaysWhatDoesNotFit) {
  const auto message = [](const Shape& x, const Shape& kernel, const ConvWindow& window = {}) {
    return message_of([&] { (void)conv_shape(x, kernel, window); });
  };
  EXPECT_EQ(message({4, 3}, {3, 3}),
            "[conv] the kernel has shape [3, 3], expected [*taps, in / groups, out] with 1 to 3 spatial axes.");
  EXPECT_EQ(message({4, 3}, {3, 3, 3, 2}),
            "[conv] x has shape [4, 3], expected [*batch, *space, in] with 2 spatial axes for a kernel of shape [3, 3, "
            "3, 2].");
  EXPECT_EQ(message({4, 3}, {3, 2, 5}),
            "[conv] the channels of x and kernel do not fit: x [4, 3], kernel [3, 2, 5]. The kernel is [*taps, in / "
            "groups, out]; here its last axis but one must be 3.");
  EXPECT_EQ(message({4, 3}, {3, 3, 4}, {.feature_groups = 2}),
            "[conv] channels do not fall into 2 groups of equal size: x [4, 3], kernel [3, 3, 4].");
  EXPECT_EQ(
      message({4, 3}, {6, 3, 2}, {.padding = PaddingMode::valid}),
      "[conv] a window of 6 positions is larger than the 4 of the padded x: x [4, 3], kernel [6, 3, 2]. Pad more.");
  EXPECT_EQ(message({4, 3}, {0, 3, 2}), "[conv] the kernel of shape [0, 3, 2] has no taps.");
  EXPECT_EQ(message({0, 3}, {3, 3, 2}, {.padding = PaddingMode::circular}),
            "[conv] there is nothing to continue x of shape [0, 3] with.");
}

TEST(Conv, SaysWhatIsWrongWithTheWindow) {
  const auto message = [](const ConvWindow& window) {
    return message_of([&] { (void)conv_shape({4, 4, 3}, {3, 3, 3, 2}, window); });
  };
  EXPECT_EQ(message({.strides = {1, 2, 3}}),
            "[conv] there are 3 strides for 2 spatial axes. Give one for each, or one for all.");
  EXPECT_EQ(message({.strides = {0}}), "[conv] strides must be positive, got 0.");
  EXPECT_EQ(message({.kernel_dilation = {1, -2}}), "[conv] kernel dilations must be positive, got -2.");
  EXPECT_EQ(message({.feature_groups = 0}), "[conv] feature groups must be positive, got 0.");
  EXPECT_EQ(message({.padding = PaddingMode::causal}), "[conv] causal padding is for one spatial axis, there are 2.");
  EXPECT_EQ(message({.padding = {{1, 1}}}), "[conv] there are 1 padding widths for 2 spatial axes. Give one for each.");
  EXPECT_EQ(message({.padding = {}}), "[conv] there are 0 padding widths for 2 spatial axes. Give one for each.");
  EXPECT_EQ(message({.padding = std::vector<PadWidth>()}),
            "[conv] there are 0 padding widths for 2 spatial axes. Give one for each.");
  EXPECT_EQ(message({.padding = -1}),
            "[conv] a padding width is negative: -1 before, -1 after. Cut x with slice_axis.");
}

TEST(Conv, RefusesNumbersThatCannotBeCounted) {
  const Shape x{4, 1}, kernel{3, 1, 1};
  EXPECT_THROW((void)conv_shape(x, kernel, {.kernel_dilation = {huge}}), ShapeError);
  EXPECT_THROW((void)conv_shape(x, kernel, {.padding = PaddingMode::valid, .input_dilation = {huge}}), ShapeError);
  EXPECT_THROW((void)conv_shape(x, kernel, {.padding = {{huge, huge}}}), ShapeError);
  EXPECT_THROW((void)conv(zeros(x), zeros(kernel), {.padding = huge / 2}), ShapeError);
  EXPECT_EQ(conv_shape(x, kernel, {.strides = {huge}}), (Shape{1, 1}));
}

}  // namespace
}  // namespace strata
