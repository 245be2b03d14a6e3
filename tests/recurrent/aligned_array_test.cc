// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/kernels/aligned_array.h"

#include <gtest/gtest.h>

#include <utility>

namespace strata::recurrent::internal {
namespace {

TEST(AlignedArray, IsEmptyWhenMovedFromAndCanGrowAgain) {
  AlignedArray<float> from(8);
  float* const data = from.data();
  AlignedArray<float> to(std::move(from));
  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(to.size(), 8);
  EXPECT_EQ(from.size(), 0);
  from.resize(4);
  EXPECT_NE(from.data(), nullptr);
  from = std::move(to);
  EXPECT_EQ(from.data(), data);
  to.resize(8);
  EXPECT_NE(to.data(), nullptr);
}

}  // namespace
}  // namespace strata::recurrent::internal
