// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/stream.h"

#include <gtest/gtest.h>

#include <vector>

#include "allocation/allocations.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/simple_cell.h"

namespace strata::recurrent {
namespace {

template <class C>
class Streams : public testing::Test {};
using Cells = testing::Types<LSTMCell, OptimizedLSTMCell, GRUCell, SimpleCell>;
TYPED_TEST_SUITE(Streams, Cells);

// The first test that runs starts the workers of the pool: each is right only as the first, too, and CTest runs each in
// a process of its own.
TYPED_TEST(Streams, AllocateNothingAfterConstruction) {
  constexpr Index in = 5;
  Rngs rngs(3);
  const TypeParam cell(in, 300, rngs);
  for (const bool use_thread_pool : {true, false}) {
    auto stream = recurrent::stream(cell, 8, {.use_thread_pool = use_thread_pool});
    const std::vector<float> x(8 * in, 0.5F);
    std::vector<float> y(8 * 300);
    const int before = allocation::count();
    for (int i = 0; i < 50; ++i) stream.step(x, y);
    stream.reset();
    stream.step(x, y);
    EXPECT_EQ(allocation::count(), before) << use_thread_pool;
  }
}

}  // namespace
}  // namespace strata::recurrent
