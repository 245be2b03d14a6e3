// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>

#include "allocation/allocations.h"

namespace strata {
namespace {

TEST(ParallelFor, MakesDoWithTheThreadsThereAre) {
  const int threads_before = num_threads();
  for (const int others : {0, 1}) {
    set_num_threads(num_threads() + 2);  // two workers to start
    std::atomic<int> calls{0};
    allocation::fail_after(others);
    parallel_for(0, 100, 1, [&](Index, Index) { ++calls; });
    EXPECT_TRUE(allocation::stop_failing());
    EXPECT_EQ(calls, 100);
  }
  set_num_threads(threads_before);
}

}  // namespace
}  // namespace strata
