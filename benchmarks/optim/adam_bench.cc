// SPDX-License-Identifier: Apache-2.0
//
// A step of Adam over one large tensor and over many small ones.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "strata/nn/split.h"
#include "strata/optim/optimizer.h"
#include "strata/tensor/create.h"
#include "strata/tensor/thread_pool.h"

namespace strata {
namespace {

void adam(benchmark::State& run) {
  set_num_threads(static_cast<int>(run.range(2)));
  const Index tensors = run.range(1);
  std::vector<Param> params;
  for (Index i = 0; i < tensors; ++i) params.emplace_back(full({run.range(0) / tensors}, 0.5));
  const State gradients = nn::state(params);
  optim::Optimizer optimizer(params, optim::adam(1e-3), of_type<Param>);
  for (auto _ : run) optimizer.update(params, gradients);
  run.SetItemsProcessed(static_cast<std::int64_t>(run.iterations()) * run.range(0));
}

BENCHMARK(adam)
    ->Name("BM_Adam")
    ->ArgNames({"params", "tensors", "threads"})
    ->ArgsProduct({{10000, 100000, 1 << 20, 1 << 24}, {1}, {1, 2}})
    ->Args({1 << 20, 1000, 1})
    ->UseRealTime();

}  // namespace
}  // namespace strata
