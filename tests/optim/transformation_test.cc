// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/transformation.h"

#include <gtest/gtest.h>

#include <limits>

#include "strata/optim/optimizers.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "support/compare.h"

namespace strata::optim {
namespace {

using support::difference;
using support::exactly;
using support::within;

// The updates of the first step.
std::vector<Tensor> updates_of(const Transformation& transformation, std::vector<Tensor> gradients) {
  std::vector<Tensor> params;
  for (const Tensor& gradient : gradients) params.push_back(zeros(gradient.shape(), gradient.dtype()));
  Memory memory = transformation.rule().init(params);
  transformation.rule().update(gradients, memory, params);
  return gradients;
}

TEST(ClipByGlobalNorm, ScalesTheNormOfAllTogether) {
  const auto updates = updates_of(clip_by_global_norm(1), {tensor({3.0F, 0.0F}), tensor({4.0F})});
  EXPECT_EQ(difference(updates[0], tensor({0.6F, 0.0F}), within(1e-6)), "");
  EXPECT_EQ(difference(updates[1], tensor({0.8F}), within(1e-6)), "");
}

TEST(ClipByGlobalNorm, LeavesASmallerNormAlone) {
  const auto updates = updates_of(clip_by_global_norm(5.1), {tensor({3.0F}), tensor({4.0F})});
  EXPECT_EQ(difference(updates[0], tensor({3.0F}), exactly), "");
  EXPECT_EQ(difference(updates[1], tensor({4.0F}), exactly), "");
}

TEST(ClipByGlobalNorm, LeavesZerosAlone) {
  EXPECT_EQ(difference(updates_of(clip_by_global_norm(1), {zeros({2})})[0], zeros({2}), exactly), "");
}

TEST(ClipByGlobalNorm, KeepsElementTypes) {
  const auto updates =
      updates_of(clip_by_global_norm(1), {full({1}, 3.0, DType::float64), full({1}, 4.0, DType::float16)});
  EXPECT_EQ(updates[0].dtype(), DType::float64);
  EXPECT_EQ(updates[1].dtype(), DType::float16);
  EXPECT_EQ(difference(updates[0], tensor({0.6}), within(1e-15)), "");
}

TEST(ClipByGlobalNorm, DoesNotOverflowInHalfPrecision) {
  const auto updates = updates_of(clip_by_global_norm(1), {full({4}, 60000.0, DType::float16)});
  EXPECT_EQ(difference(updates[0], full({4}, 0.5F), within(1e-3)), "");
}

TEST(ClipByGlobalNorm, RefusesNormsThatAreNotPositive) {
  EXPECT_THROW((void)clip_by_global_norm(0), ValueError);
  EXPECT_THROW((void)clip_by_global_norm(-1), ValueError);
  EXPECT_THROW((void)clip_by_global_norm(std::numeric_limits<double>::quiet_NaN()), ValueError);
}

TEST(Transformation, RefusesANullRule) { EXPECT_THROW(Transformation(nullptr), ValueError); }

TEST(Chain, PassesUpdatesOnInOrder) {
  const auto clipped_first = updates_of(chain(clip_by_global_norm(1), sgd(2.0)), {tensor({4.0F})});
  const auto scaled_first = updates_of(chain(sgd(2.0), clip_by_global_norm(1)), {tensor({4.0F})});
  EXPECT_EQ(difference(clipped_first[0], tensor({-2.0F}), within(1e-6)), "");
  EXPECT_EQ(difference(scaled_first[0], tensor({-1.0F}), within(1e-6)), "");
}

TEST(Chain, StepsAsItsUpdatesAdd) {
  const Transformation transformation = chain(clip_by_global_norm(1), adamw(0.1), sgd(0.5, {.momentum = 0.9}));
  std::vector<Tensor> params{tensor({1.0, -2.0})};
  const std::vector<Tensor> gradients{tensor({3.0, 4.0})};
  Memory memory = transformation.rule().init(params);
  const std::vector<Tensor> start = params;
  transformation.rule().step(params, gradients, memory);
  std::vector<Tensor> updates = gradients;
  Memory again = transformation.rule().init(start);
  transformation.rule().update(updates, again, start);
  for (const Index i : {0, 1}) {
    EXPECT_DOUBLE_EQ(params[0].at<double>({i}), start[0].at<double>({i}) + updates[0].at<double>({i}));
  }
}

TEST(Chain, NeedsALink) { EXPECT_THROW((void)chain(std::vector<Transformation>{}), ValueError); }

}  // namespace
}  // namespace strata::optim
