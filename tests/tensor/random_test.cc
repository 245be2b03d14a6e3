// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "strata/tensor/error.h"
#include "strata/tensor/internal/simd.h"
#include "strata/tensor/thread_pool.h"
#include "support/compare.h"
#include "support/sanitizer.h"

namespace strata {
namespace {

using support::difference;
using support::exactly;
using support::within;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Expected numbers of this key, where nothing else is said, are those of jax.random 0.10.2 on a CPU with FMA.
const RandomKey key42 = random::key(42);

// Several tasks of parallel_for and a last vector that is not full.
const Shape large{70001};

double mean(const Tensor& x) {
  const Tensor doubles = x.astype(DType::float64);
  double sum = 0;
  for (const double element : doubles.data<double>()) sum += element;
  return sum / static_cast<double>(x.size());
}

double variance(const Tensor& x) {
  const double centre = mean(x);
  const Tensor doubles = x.astype(DType::float64);
  double sum = 0;
  for (const double element : doubles.data<double>()) sum += (element - centre) * (element - centre);
  return sum / static_cast<double>(x.size());
}

Tensor log_probabilities(std::initializer_list<float> probabilities, Shape shape) {
  std::vector<float> logits;
  for (const float p : probabilities) logits.push_back(std::log(p));
  return tensor(logits, std::move(shape));
}

TEST(RandomKey, IsZeroAndTheLowWordOfTheSeed) {
  EXPECT_EQ(random::key(42), (RandomKey{0, 42}));
  EXPECT_EQ(random::key(-1), (RandomKey{0, 4294967295}));
  EXPECT_EQ(random::key(std::numeric_limits<std::int64_t>::max()), (RandomKey{0, 4294967295}));
}

TEST(FoldIn, GivesTheKeyOfJax) { EXPECT_EQ(random::fold_in(key42, 7), (RandomKey{2547012911, 1371500959})); }

TEST(Split, GivesTheKeysOfJax) {
  const std::vector<RandomKey> expected{{1832780943, 270669613}, {64467757, 2916123636}, {2465931498, 255383827}};
  EXPECT_EQ(random::split(key42, 3), expected);
}

TEST(Split, FirstKeysDoNotDependOnTheirNumber) {
  EXPECT_EQ(random::split(key42, 1000)[2], random::split(key42, 3)[2]);
  EXPECT_TRUE(random::split(key42, 0).empty());
}

TEST(Random, RefusesMoreNumbersThanThereIsMemoryFor) {
  constexpr Index many = std::numeric_limits<Index>::max();
  EXPECT_THROW((void)random::split(key42, many), ShapeError);
  EXPECT_THROW((void)random::permutation(key42, many), ShapeError);
  EXPECT_THROW((void)random::normal(key42, {many}), ShapeError);
  if (!support::memory_can_be_refused) GTEST_SKIP();
  EXPECT_THROW((void)random::split(key42, Index{1} << 55), ShapeError);
  EXPECT_THROW((void)random::permutation(key42, Index{1} << 55), ShapeError);
  EXPECT_THROW((void)random::uniform(key42, {Index{1} << 55}), ShapeError);
  EXPECT_THROW((void)random::randint(key42, {Index{1} << 55}, 0, 9), ShapeError);
  EXPECT_THROW((void)random::bits(key42, {Index{1} << 55}), ShapeError);
  EXPECT_THROW((void)random::orthogonal(key42, Index{1} << 55, 2), ShapeError);
}

TEST(Split, NegativeCountThrows) { EXPECT_THROW((void)random::split(key42, -1), ValueError); }

TEST(Bits, AreTheLowBitsOfTheWordsOfJax) {
  const Shape shape{4};
  EXPECT_TRUE(identical(random::bits(key42, shape),
                        tensor<std::uint32_t>({2098992034U, 2919706841U, 2646866425U, 2409546199U})));
  EXPECT_TRUE(identical(random::bits(key42, shape, DType::uint16), tensor<std::uint16_t>({5026, 12505, 63993, 49623})));
  EXPECT_TRUE(identical(random::bits(key42, shape, DType::uint8), tensor<std::uint8_t>({162, 217, 249, 215})));
}

// With jax_enable_x64.
TEST(Bits, OfSixtyFourAreBothWords) {
  EXPECT_TRUE(identical(random::bits(key42, Shape{3}, DType::uint64),
                        tensor<std::uint64_t>({7871734211187709741U, 276886910877598708U, 10591095138341673235U})));
}

TEST(Bits, SignedTypeThrows) { EXPECT_THROW((void)random::bits(key42, Shape{2}, DType::int32), DTypeError); }

TEST(Uniform, GivesTheNumbersOfJax) {
  EXPECT_TRUE(identical(random::uniform(key42, Shape{4}), tensor({0x1.f470480000000p-2F, 0x1.5c0e600000000p-1F,
                                                                  0x1.3b87f00000000p-1F, 0x1.1f3d800000000p-1F})));
}

TEST(Uniform, OfARangeIsFusedAsInJax) {
  EXPECT_TRUE(
      identical(random::uniform(key42, Shape{4}, -0.3, 2.5),
                tensor({0x1.1181cc0000000p+0F, 0x1.9a7a860000000p+0F, 0x1.6cf1820000000p+0F, 0x1.4556180000000p+0F})));
}

TEST(Uniform, OfAnEmptyRangeIsItsLowEnd) {
  EXPECT_TRUE(identical(random::uniform(key42, Shape{2}, 3, 3), tensor({3.0F, 3.0F})));
}

TEST(Uniform, WrongRangeThrows) {
  EXPECT_THROW((void)random::uniform(key42, Shape{2}, 1, 0), ValueError);
  EXPECT_THROW((void)random::uniform(key42, Shape{2}, 0, infinity), ValueError);
  EXPECT_THROW((void)random::uniform(key42, Shape{2}, -3e38, 3e38), ValueError);
  EXPECT_THROW((void)random::uniform(key42, Shape{2}, std::nan(""), 1), ValueError);
}

TEST(Uniform, IntegerTypeThrows) {
  EXPECT_THROW((void)random::uniform(key42, Shape{2}, 0, 1, DType::int32), DTypeError);
}

TEST(Normal, GivesTheNumbersOfJax) {
  EXPECT_TRUE(identical(random::normal(key42, Shape{4}), tensor({-0x1.cfbe2a0000000p-6F, 0x1.de57d00000000p-2F,
                                                                 0x1.2eccc20000000p-2F, 0x1.3a76480000000p-3F})));
}

// Standard errors: mean 0.004, variance 0.005.
TEST(Normal, HasMeanZeroAndVarianceOne) {
  const Tensor x = random::normal(key42, large);
  EXPECT_NEAR(mean(x), 0, 0.016);
  EXPECT_NEAR(variance(x), 1, 0.02);
}

TEST(TruncatedNormal, GivesTheNumbersOfJax) {
  EXPECT_TRUE(
      identical(random::truncated_normal(key42, Shape{4}, -1, 3.5),
                tensor({0x1.67ba360000000p-3F, 0x1.3a717c0000000p-1F, 0x1.d65ff00000000p-2F, 0x1.55434e0000000p-2F})));
}

TEST(TruncatedNormal, TakesAnInfiniteEnd) {
  EXPECT_TRUE(
      identical(random::truncated_normal(key42, Shape{4}, 0, infinity),
                tensor({0x1.504bfc0000000p-1F, 0x1.fcf2f40000000p-1F, 0x1.bdf9de0000000p-1F, 0x1.8c3df20000000p-1F})));
}

TEST(TruncatedNormal, StaysInsideTheOpenInterval) {
  const Tensor x = random::truncated_normal(key42, large, -0.001, 0.001);
  const auto [least, greatest] = std::minmax_element(x.data<float>().begin(), x.data<float>().end());
  EXPECT_GT(*least, -0.001F);
  EXPECT_LT(*greatest, 0.001F);
  EXPECT_LT(*least, -0.00099F);
  EXPECT_GT(*greatest, 0.00099F);
}

TEST(TruncatedNormal, WrongRangeThrows) {
  EXPECT_THROW((void)random::truncated_normal(key42, Shape{2}, 1, 1), ValueError);
  EXPECT_THROW((void)random::truncated_normal(key42, Shape{2}, std::nan(""), 1), ValueError);
}

TEST(Gumbel, GivesTheNumbersOfJax) {
  EXPECT_TRUE(identical(random::gumbel(key42, Shape{4}), tensor({0x1.561c940000000p-2F, 0x1.e76f180000000p-1F,
                                                                 0x1.7378be0000000p-1F, 0x1.18a9f00000000p-1F})));
}

// The mean is Euler's constant, the standard error 0.005.
TEST(Gumbel, HasTheMeanOfItsDistribution) { EXPECT_NEAR(mean(random::gumbel(key42, large)), 0.5772, 0.02); }

TEST(Exponential, GivesTheNumbersOfJax) {
  EXPECT_TRUE(identical(random::exponential(key42, Shape{4}), tensor({0x1.5775640000000p-1F, 0x1.2388700000000p+0F,
                                                                      0x1.ea67620000000p-1F, 0x1.a586980000000p-1F})));
}

TEST(Exponential, HasMeanAndVarianceOne) {
  const Tensor x = random::exponential(key42, large);
  EXPECT_NEAR(mean(x), 1, 0.016);
  EXPECT_NEAR(variance(x), 1, 0.05);
}

TEST(Bernoulli, GivesTheValuesOfJax) {
  EXPECT_TRUE(identical(random::bernoulli(key42, Shape{2, 4}, 0.3),
                        tensor<bool>({false, false, false, false, false, false, true, false}, Shape{2, 4})));
}

TEST(Bernoulli, ZeroIsNeverAndOneIsAlways) {
  EXPECT_EQ(mean(random::bernoulli(key42, large, 0)), 0);
  EXPECT_EQ(mean(random::bernoulli(key42, large, 1)), 1);
}

TEST(Bernoulli, ProbabilityOutOfRangeThrows) {
  EXPECT_THROW((void)random::bernoulli(key42, Shape{2}, 1.5), ValueError);
  EXPECT_THROW((void)random::bernoulli(key42, Shape{2}, -0.5), ValueError);
  EXPECT_THROW((void)random::bernoulli(key42, Shape{2}, std::nan("")), ValueError);
}

TEST(Randint, GivesTheNumbersOfJax) {
  EXPECT_TRUE(identical(random::randint(key42, Shape{6}, -5, 1000), tensor({184, 514, 736, 539, 804, 979})));
  EXPECT_TRUE(identical(random::randint(key42, Shape{4}, 0, 100000, DType::uint32),
                        tensor<std::uint32_t>({94276, 65362, 71127, 88417})));
}

TEST(Randint, OfSmallTypesIsDrawnIn32BitsAsInJax) {
  EXPECT_TRUE(identical(random::randint(key42, Shape{6}, 0, 256, DType::uint8),
                        tensor<std::uint8_t>({196, 18, 183, 193, 141, 107})));
  EXPECT_TRUE(identical(random::randint(key42, Shape{6}, -32768, 32768, DType::int16),
                        tensor<std::int16_t>({-19260, 12306, 1207, 15553, 17037, 7531})));
}

// With jax_enable_x64.
TEST(Randint, OfSixtyFourBitsGivesTheNumbersOfJax) {
  EXPECT_TRUE(identical(random::randint(key42, Shape{4}, -1000000000000, 1000000000000, DType::int64),
                        tensor<std::int64_t>({464050701877, -395020523842, 848944880791, -449936457681})));
}

TEST(Randint, OfTheWholeRangeOfTheTypeIsUniform) {
  const Tensor x = random::randint(key42, large, -2147483648, 2147483648);
  EXPECT_NEAR(mean(x) / 2147483648.0, 0, 0.01);
  EXPECT_NEAR(variance(x) / 2147483648.0 / 2147483648.0, 1.0 / 3, 0.01);
}

TEST(Randint, ReachesEveryNumberOfTheRangeAndNoOther) {
  const Tensor x = random::randint(key42, Shape{200}, 3, 7, DType::int64);
  const std::set<std::int64_t> seen(x.data<std::int64_t>().begin(), x.data<std::int64_t>().end());
  EXPECT_THAT(seen, testing::ElementsAre(3, 4, 5, 6));
}

TEST(Randint, WrongRangeOrTypeThrows) {
  EXPECT_THROW((void)random::randint(key42, Shape{2}, 5, 5), ValueError);
  EXPECT_THROW((void)random::randint(key42, Shape{2}, -1, 5, DType::uint8), ValueError);
  EXPECT_THROW((void)random::randint(key42, Shape{2}, 0, 257, DType::uint8), ValueError);
  EXPECT_THROW((void)random::randint(key42, Shape{2}, 0, 5, DType::float32), DTypeError);
  EXPECT_THROW((void)random::randint(key42, Shape{2}, 0, 1, DType::boolean), DTypeError);
}

TEST(Permutation, GivesTheOrderOfJax) {
  EXPECT_TRUE(identical(random::permutation(key42, 10), tensor<std::int64_t>({7, 4, 2, 5, 3, 6, 8, 9, 0, 1})));
}

TEST(Permutation, OfManyIsSortedTwiceAsInJax) {
  EXPECT_TRUE(identical(random::permutation(key42, 5000).slice(0, 6),
                        tensor<std::int64_t>({3825, 3150, 2972, 2921, 1203, 2981})));
}

TEST(Permutation, HoldsEveryNumberOnce) {
  Tensor order = random::permutation(key42, 5000);
  const std::span<std::int64_t> elements = order.mutable_data<std::int64_t>();
  std::sort(elements.begin(), elements.end());
  for (std::size_t i = 0; i < elements.size(); ++i) ASSERT_EQ(elements[i], static_cast<std::int64_t>(i));
}

TEST(Permutation, OfNothingIsEmpty) { EXPECT_EQ(random::permutation(key42, 0).shape(), (Shape{0})); }

TEST(Permutation, NegativeCountThrows) { EXPECT_THROW((void)random::permutation(key42, -1), ValueError); }

TEST(Categorical, GivesTheClassesOfJax) {
  EXPECT_TRUE(identical(random::categorical(key42, log_probabilities({0.1F, 0.2F, 0.3F, 0.4F}, {4}), Shape{10}),
                        tensor<std::int64_t>({3, 3, 3, 3, 3, 3, 1, 1, 1, 1})));
}

TEST(Categorical, DrawsOnceForEachRowOfLogits) {
  const Tensor logits = log_probabilities({0.1F, 0.9F, 0.5F, 0.5F, 0.99F, 0.01F}, {3, 2});
  EXPECT_TRUE(identical(random::categorical(key42, logits), tensor<std::int64_t>({1, 0, 0})));
  EXPECT_TRUE(identical(random::categorical(key42, logits, Shape{4, 3}),
                        tensor<std::int64_t>({1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0}, {4, 3})));
}

TEST(Categorical, WrongShapesThrow) {
  EXPECT_THROW((void)random::categorical(key42, scalar(1.0F)), ShapeError);
  EXPECT_THROW((void)random::categorical(key42, Tensor::uninitialized({3, 0}, DType::float32)), ShapeError);
  EXPECT_THROW((void)random::categorical(key42, log_probabilities({0.5F, 0.5F}, {1, 2}), Shape{2}), ShapeError);
  EXPECT_THROW((void)random::categorical(key42, log_probabilities({0.5F, 0.5F}, {1, 2}), Shape{}), ShapeError);
  EXPECT_THROW((void)random::categorical(key42, tensor({1, 2})), DTypeError);
}

TEST(Orthogonal, GivesTheMatricesOfJax) {
  constexpr double float32_factorization = 1e-6;
  const Tensor square = tensor({-0.01952970F, 0.99526775F, 0.09518947F, 0.10594390F, -0.09261153F, 0.99005002F,
                                -0.99418044F, -0.02941984F, 0.10363387F},
                               {3, 3});
  const Tensor wide = tensor({-0.08792734F, 0.91859132F, -0.38530377F, 0.87226337F, 0.25780207F, 0.41556573F}, {2, 3});
  EXPECT_EQ(difference(random::orthogonal(key42, 3, 3), square, within(float32_factorization)), "");
  EXPECT_EQ(difference(random::orthogonal(key42, 2, 3), wide, within(float32_factorization)), "");
}

TEST(Orthogonal, ColumnsOfATallMatrixAreOrthonormal) {
  const Tensor q = random::orthogonal(key42, 90, 70);
  for (Index a = 0; a < 70; ++a) {
    for (Index b = 0; b < 70; ++b) {
      double product = 0;
      for (Index row = 0; row < 90; ++row) product += q.at<double>({row, a}) * q.at<double>({row, b});
      EXPECT_NEAR(product, a == b ? 1 : 0, 1e-6) << a << ", " << b;
    }
  }
}

TEST(Orthogonal, OfNothingIsEmpty) {
  EXPECT_EQ(random::orthogonal(key42, 0, 3).shape(), (Shape{0, 3}));
  EXPECT_EQ(random::orthogonal(key42, 3, 0).shape(), (Shape{3, 0}));
}

TEST(Orthogonal, NegativeSizeThrows) { EXPECT_THROW((void)random::orthogonal(key42, -1, 3), ValueError); }

TEST(Draws, DependOnTheirPlaceInRowMajorOrderAlone) {
  const Tensor many = random::normal(key42, large);
  const Tensor few = random::normal(key42, Shape{3, 5});
  EXPECT_TRUE(identical(few, many.slice(0, 15).reshape({3, 5})));
}

TEST(Draws, HaveTheShapeAskedFor) {
  EXPECT_EQ(random::normal(key42, Shape{}).shape(), Shape{});
  EXPECT_EQ(random::normal(key42, Shape{2, 0, 3}).shape(), (Shape{2, 0, 3}));
  EXPECT_EQ(random::bits(key42, Shape{0}).shape(), (Shape{0}));
  EXPECT_EQ(random::bernoulli(key42, Shape{0, 2}, 0.5).shape(), (Shape{0, 2}));
  EXPECT_EQ(random::randint(key42, Shape{0, 2}, 0, 5).shape(), (Shape{0, 2}));
}

TEST(Draws, OfOtherFloatingTypesAreFloat32NumbersConverted) {
  const Tensor x = random::normal(key42, Shape{50});
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float64}) {
    EXPECT_TRUE(identical(random::normal(key42, Shape{50}, dtype), x.astype(dtype))) << dtype;
  }
}

std::vector<Tensor> one_of_each() {
  return {random::bits(key42, large),
          random::bits(key42, large, DType::uint64),
          random::uniform(key42, large, -0.3, 2.5),
          random::normal(key42, large),
          random::truncated_normal(key42, large, -1, 3.5),
          random::gumbel(key42, large),
          random::exponential(key42, large),
          random::bernoulli(key42, large, 0.3)};
}

TEST(Draws, DoNotDependOnTheNumberOfThreads) {
  const int before = num_threads();
  set_num_threads(1);
  const std::vector<Tensor> expected = one_of_each();
  set_num_threads(3);
  const std::vector<Tensor> actual = one_of_each();
  set_num_threads(before);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(identical(actual[i], expected[i])) << i;
}

TEST(Draws, DoNotDependOnTheInstructionSet) {
  const std::vector<std::string_view> available = internal::available_instruction_sets();
  const std::vector<Tensor> expected = one_of_each();
  for (const std::string_view name : available) {
    internal::limit_instruction_set(name);
    const std::vector<Tensor> actual = one_of_each();
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(identical(actual[i], expected[i])) << name << i;
  }
  internal::limit_instruction_set(available.front());
}

}  // namespace
}  // namespace strata
