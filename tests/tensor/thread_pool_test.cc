// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "strata/tensor/error.h"

namespace strata {
namespace {

using Chunks = std::set<std::pair<Index, Index>>;

// Gives the process back the number of threads it had.
class ThreadPool : public testing::Test {
 protected:
  ~ThreadPool() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

Chunks chunks_of(Index begin, Index end, Index grain) {
  Chunks chunks;
  std::mutex mutex;
  parallel_for(begin, end, grain, [&](Index first, Index last) {
    const std::lock_guard lock(mutex);
    chunks.emplace(first, last);
  });
  return chunks;
}

TEST_F(ThreadPool, ChunkBordersDoNotDependOnTheNumberOfThreads) {
  const Chunks expected = {{3, 7}, {7, 11}, {11, 13}};
  for (const int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    EXPECT_EQ(chunks_of(3, 13, 4), expected) << threads << " threads";
  }
}

TEST_F(ThreadPool, EmptyRangeCallsNothing) {
  set_num_threads(2);
  EXPECT_EQ(chunks_of(5, 5, 1), Chunks{});
  EXPECT_EQ(chunks_of(5, 2, 1), Chunks{});
}

TEST_F(ThreadPool, TakesTheLongestRange) {
  constexpr Index lowest = std::numeric_limits<Index>::min();
  constexpr Index highest = std::numeric_limits<Index>::max();
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    EXPECT_EQ(chunks_of(lowest, highest, highest), (Chunks{{lowest, -1}, {-1, highest - 1}, {highest - 1, highest}}));
    // 2^64 - 1 chunks, of which the first one ends the run.
    std::atomic<int> calls{0};
    const auto stop = [&](Index, Index) {
      ++calls;
      throw std::runtime_error("enough");
    };
    EXPECT_THROW(parallel_for(lowest, highest, 1, stop), std::runtime_error);
    EXPECT_LE(calls, threads);
  }
}

TEST_F(ThreadPool, AGrainBeyondTheRangeGivesOneChunk) {
  set_num_threads(2);
  EXPECT_EQ(chunks_of(0, 5, std::numeric_limits<Index>::max()), (Chunks{{0, 5}}));
}

TEST_F(ThreadPool, EveryIndexIsVisitedOnceOverManyCalls) {
  set_num_threads(4);
  std::vector<int> visits(1000);
  for (int round = 0; round < 500; ++round) {
    parallel_for(0, 1000, 7, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) ++visits[static_cast<std::size_t>(i)];
    });
  }
  EXPECT_EQ(visits, std::vector<int>(1000, 500));
}

TEST_F(ThreadPool, TheFirstFailingChunkIsTheOneReported) {
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    for (int round = 0; round < 200; ++round) {
      try {
        parallel_for(0, 64, 1, [](Index first, Index) {
          if (first >= 5) throw std::runtime_error("chunk " + std::to_string(first));
        });
        FAIL() << "no exception";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "chunk 5");
      }
    }
  }
}

TEST_F(ThreadPool, WorksAgainAfterAnException) {
  set_num_threads(2);
  EXPECT_THROW(parallel_for(0, 2, 1, [](Index, Index) { throw std::logic_error("no"); }), std::logic_error);
  EXPECT_EQ(chunks_of(0, 2, 1), (Chunks{{0, 1}, {1, 2}}));
}

TEST_F(ThreadPool, NestedCallsStayOnTheirThread) {
  set_num_threads(4);
  std::atomic<int> elsewhere = 0;
  parallel_for(0, 8, 1, [&](Index, Index) {
    const std::thread::id outer = std::this_thread::get_id();
    parallel_for(0, 8, 1, [&](Index, Index) { elsewhere += std::this_thread::get_id() != outer; });
  });
  EXPECT_EQ(elsewhere, 0);
}

TEST_F(ThreadPool, ServesSeveralUserThreadsAtOnce) {
  set_num_threads(3);
  std::vector<std::int64_t> sums(4);
  std::vector<std::thread> users;
  for (std::int64_t& sum : sums) {
    users.emplace_back([&sum] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<std::int64_t> total = 0;
        parallel_for(0, 100, 3, [&](Index first, Index last) {
          for (Index i = first; i < last; ++i) total += i;
        });
        sum += total;
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(sums, std::vector<std::int64_t>(4, 200 * 4950));
}

TEST_F(ThreadPool, UsesNoMoreThreadsThanSet) {
  set_num_threads(4);
  chunks_of(0, 100, 1);
  set_num_threads(2);
  std::set<std::thread::id> ids;
  std::mutex mutex;
  parallel_for(0, 1000, 1, [&](Index, Index) {
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_LE(ids.size(), 2U);
}

TEST_F(ThreadPool, RefusesNumbersThatAreNotPositive) {
  set_num_threads(3);
  EXPECT_THROW(set_num_threads(0), ValueError);
  EXPECT_THROW(set_num_threads(-1), ValueError);
  EXPECT_EQ(num_threads(), 3);
  EXPECT_THROW(parallel_for(0, 1, 0, [](Index, Index) {}), ValueError);
}

}  // namespace
}  // namespace strata
