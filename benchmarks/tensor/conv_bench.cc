// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "strata/tensor/convolution.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/random.h"

namespace strata {
namespace {

// Images [batch, size, size, in] under square kernels, padding `same`, in float32. Items are the floating-point
// operations of the sum alone, two for a multiply-add.
struct Images {
  explicit Images(const benchmark::State& state)
      : x(random::normal(random::key(0), {state.range(0), state.range(1), state.range(1), state.range(2)})),
        kernel(random::normal(random::key(1), {state.range(4), state.range(4), state.range(2), state.range(3)})),
        flops(2 * x.size() * kernel.size() / state.range(2)) {}

  Tensor x;
  Tensor kernel;
  Index flops;
};

void BM_Conv(benchmark::State& state) {
  const Images images(state);
  for (auto _ : state) benchmark::DoNotOptimize(conv(images.x, images.kernel));
  state.SetItemsProcessed(state.iterations() * images.flops);
}

// With the gradients of x and kernel; counts as three of the sums.
void BM_ConvWithGradients(benchmark::State& state) {
  const Images images(state);
  const Tensor cotangent = conv(images.x, images.kernel);
  for (auto _ : state) {
    GradientTape tape;
    const Tensor x = tape.watch(images.x), kernel = tape.watch(images.kernel);
    const Tensor y = conv(x, kernel);
    const Tensor sources[] = {x, kernel};
    benchmark::DoNotOptimize(tape.gradient({&y, 1}, {&cotangent, 1}, sources));
  }
  state.SetItemsProcessed(state.iterations() * 3 * images.flops);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"batch", "size", "in", "out", "taps"})
      ->Args({8, 32, 16, 32, 3})
      ->Args({1, 32, 16, 32, 3})
      ->Args({8, 64, 3, 16, 5})
      ->Args({8, 16, 64, 128, 3})
      ->Args({2, 8, 256, 256, 3})
      ->Args({8, 32, 64, 64, 1})
      ->UseRealTime();
}
BENCHMARK(BM_Conv)->Apply(sizes);
BENCHMARK(BM_ConvWithGradients)->Apply(sizes);

}  // namespace
}  // namespace strata
