// SPDX-License-Identifier: Apache-2.0

// How the memory of a scan with its backward pass grows with the number of steps.

#include <gtest/gtest.h>

#include <vector>

#include "allocation/allocations.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/scan.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/linear_algebra.h"
#include "strata/tensor/random.h"
#include "strata/tensor/reduce.h"

namespace strata::recurrent {
namespace {

constexpr Index rows = 32;
constexpr Index features = 1;

// A wide carry and one output, so that what is kept of the carries decides.
struct WideCell {
  struct Carry {
    Tensor h;
    STRATA_FIELDS(h)
  };
  static constexpr int num_feature_axes = 1;
  Param kernel{eye(256) * 0.9};

  Step<Carry> operator()(const Carry& carry, const Tensor& x) const {
    const Tensor h = strata::tanh(matmul(carry.h, kernel) + x);
    return {{h}, mean(h, {-1}, {.keep_dims = true})};
  }
  Carry initial_carry(const Shape& input) const { return {zeros({input[0], 256})}; }

  STRATA_FIELDS(kernel)
};

// Most bytes in use at a time during a scan and its backward pass, without x, y and their gradients.
template <class C>
double bytes_of_scan(C& cell, Index steps, std::optional<Index> checkpoint_every) {
  const Tensor x = random::normal(random::key(1), {rows, steps, features});
  const double before = static_cast<double>(allocation::live_bytes());
  allocation::begin_peak();
  double tensors = 0;
  {
    GradientTape tape;
    const Tensor watched = tape.watch(x);
    const Tensor y = scan(cell, watched, {.checkpoint_every = checkpoint_every}).y;
    const Tensor dy = ones(y.shape());
    tensors = static_cast<double>(2 * y.num_bytes() + x.num_bytes());
    (void)tape.gradient(std::span<const Tensor>(&y, 1), std::span<const Tensor>(&dy, 1),
                        std::span<const Tensor>(&watched, 1));
  }
  return static_cast<double>(allocation::peak_bytes()) - before - tensors;
}

// By how much memory grows from 100 to 400 and from 400 to 1600 steps.
template <class C>
std::vector<double> growth(C& cell, std::optional<Index> checkpoint_every) {
  std::vector<double> bytes;
  for (const Index steps : {100, 400, 1600}) bytes.push_back(bytes_of_scan(cell, steps, checkpoint_every));
  return {bytes[1] / bytes[0], bytes[2] / bytes[1]};
}

template <class C>
void expect_square_root(C& cell) {
  for (const double factor : growth(cell, 0)) EXPECT_LT(factor, 2.6);   // 2, and little for every step
  for (const double factor : growth(cell, {})) EXPECT_GT(factor, 3.0);  // 4, save what does not depend on the steps
}

TEST(CheckpointedScan, NeedsMemoryForTheSquareRootOfTheSteps) {
  Rngs rngs(0);
  LSTMCell cell(features, 64, rngs);
  expect_square_root(cell);
}

TEST(CheckpointedScan, NeedsMemoryForTheSquareRootOfTheStepsWithAnyCell) {
  WideCell cell;
  expect_square_root(cell);
}

// Of one step, so that the 256 KiB of a kernel decide.
TEST(FusedScan, ComputesNoGradientsOfFrozenWeights) {
  Rngs rngs(0);
  OptimizedLSTMCell cell(128, 128, rngs);
  const auto bytes_of_gradient = [&](bool frozen) {
    GradientTape tape;
    const Tensor x = tape.watch(ones({1, 1, 128}));
    OptimizedLSTMCell run = cell;
    if (!frozen) run.dense_h.kernel.reset(tape.watch(run.dense_h.kernel));
    const Tensor loss = sum(scan(run, x).y);
    const double before = static_cast<double>(allocation::live_bytes());
    allocation::begin_peak();
    (void)tape.gradient(loss, {x});
    return static_cast<double>(allocation::peak_bytes()) - before;
  };
  constexpr double kernel_bytes = 128 * 4 * 128 * sizeof(float);
  EXPECT_GT(bytes_of_gradient(false) - bytes_of_gradient(true), 0.9 * kernel_bytes);
}

}  // namespace
}  // namespace strata::recurrent
