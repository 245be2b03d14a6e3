// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "strata/tensor/linear_algebra.h"
#include "strata/tensor/random.h"

namespace strata {
namespace {

// [m, k] times [k, n] in float32. Items are floating-point operations, two for a multiply-add.
void BM_MatMul(benchmark::State& state) {
  const Index m = state.range(0), n = state.range(1), k = state.range(2);
  const Tensor a = random::normal(random::key(0), {m, k});
  const Tensor b = random::normal(random::key(1), {k, n});
  for (auto _ : state) benchmark::DoNotOptimize(matmul(a, b));
  state.SetItemsProcessed(state.iterations() * 2 * m * n * k);
}

// Square ones, then the tall, flat and thin ones of batches, recurrent steps and their gradients.
BENCHMARK(BM_MatMul)
    ->ArgNames({"m", "n", "k"})
    ->Args({64, 64, 64})
    ->Args({128, 128, 128})
    ->Args({256, 256, 256})
    ->Args({512, 512, 512})
    ->Args({1024, 1024, 1024})
    ->Args({4096, 64, 64})
    ->Args({64, 64, 4096})
    ->Args({32, 256, 1024})
    ->Args({32, 1024, 256})
    ->Args({270, 64, 12})
    ->Args({270, 9, 128})
    ->Args({30, 64, 16})
    ->Args({1, 512, 512})
    ->Args({512, 1, 512})
    ->UseRealTime();

}  // namespace
}  // namespace strata
