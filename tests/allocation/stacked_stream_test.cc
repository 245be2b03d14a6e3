// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/stacked_stream.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "allocation/allocations.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/scan.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/random.h"

namespace strata::recurrent {
namespace {

constexpr Index batch = 2;
constexpr Index in = 3;
constexpr Index hidden = 5;

template <class C>
StackedCell<C> three_cells(bool residual) {
  Rngs rngs(7);
  return StackedCell({C(in, hidden, rngs), C(hidden, hidden, rngs), C(hidden, hidden, rngs)}, {.residual = residual});
}

template <class C>
Tensor streamed(StackedStream<C>& stream, const Tensor& xs) {
  std::vector<float> ys;
  for (Index t = 0; t < xs.size(0); ++t) {
    const Tensor x = xs[t];
    std::vector<float> y(batch * hidden);
    stream.step(x.data<float>(), y);
    ys.insert(ys.end(), y.begin(), y.end());
  }
  return Tensor(std::span<const float>(ys), {xs.size(0), batch, hidden});
}

template <class C>
void expect_scans_of_the_cells(bool residual) {
  const StackedCell<C> stack = three_cells<C>(residual);
  const Tensor xs = random::normal(random::key(1), {6, batch, in});
  auto stream = recurrent::stream(stack, batch);
  const Tensor got = streamed(stream, xs);
  const auto state = stream.state();
  Tensor y = xs;
  for (std::size_t i = 0; i < stack.cells.size(); ++i) {
    auto layer = scan(stack.cells[i], y, {.time_major = true});
    y = residual && i > 0 ? y + layer.y : layer.y;
    EXPECT_TRUE(identical(state[i].h, layer.carry.h)) << i;
  }
  EXPECT_TRUE(identical(got, y));
}

TEST(StackedStream, PutsOutTheBitsOfScansOneAfterTheOther) {
  expect_scans_of_the_cells<GRUCell>(false);
  expect_scans_of_the_cells<LSTMCell>(false);
}

TEST(StackedStream, AddsInputsWhereTheStackIsResidual) { expect_scans_of_the_cells<LSTMCell>(true); }

TEST(StackedStream, AllocatesNothing) {
  auto stream = recurrent::stream(three_cells<LSTMCell>(true), batch);
  const std::vector<float> x(batch * in, 0.5F);
  std::vector<float> y(batch * hidden);
  const int before = allocation::count();
  for (int i = 0; i < 20; ++i) stream.step(x, y);
  stream.reset();
  EXPECT_EQ(allocation::count(), before);
}

TEST(StackedStream, IsSavedRestoredAndBegunAnew) {
  auto stream = recurrent::stream(three_cells<LSTMCell>(false), batch);
  const Tensor x = ones({1, batch, in});
  const Tensor first = streamed(stream, x);
  const auto saved = stream.state();
  const Tensor second = streamed(stream, x);
  EXPECT_FALSE(identical(first, second));
  stream.set_state(saved);
  EXPECT_TRUE(identical(streamed(stream, x), second));
  stream.reset();
  EXPECT_TRUE(identical(streamed(stream, x), first));
}

TEST(StackedStream, LeavesItsStateIfAnotherDoesNotFit) {
  auto stream = recurrent::stream(three_cells<LSTMCell>(false), batch);
  auto other = stream.state();
  other[0].h = ones({batch, hidden});
  other[2].c = ones({batch, hidden + 1});
  EXPECT_THROW(stream.set_state(other), ShapeError);
  EXPECT_TRUE(identical(stream.state()[0].h, zeros({batch, hidden})));
  other.pop_back();
  EXPECT_THROW(stream.set_state(other), ShapeError);
}

TEST(PackedStack, IsSharedBetweenThreads) {
  const PackedStack packed(three_cells<GRUCell>(false));
  const Tensor xs = random::normal(random::key(1), {50, batch, in});
  auto alone = recurrent::stream(packed, batch);
  const Tensor expected = streamed(alone, xs);
  std::vector<Tensor> got(3);
  std::vector<std::thread> threads;
  for (Tensor& y : got) {
    threads.emplace_back([&] {
      auto stream = recurrent::stream(packed, batch);
      y = streamed(stream, xs);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& y : got) EXPECT_TRUE(identical(y, expected));
}

TEST(PackedStack, RefusesCellsThatDoNotFit) {
  Rngs rngs(0);
  const StackedCell stack({GRUCell(in, hidden, rngs), GRUCell(hidden + 1, hidden, rngs)});
  EXPECT_THROW(PackedStack{stack}, ShapeError);
  EXPECT_THROW(static_cast<void>(recurrent::stream(three_cells<GRUCell>(false), 0)), ShapeError);
}

}  // namespace
}  // namespace strata::recurrent
