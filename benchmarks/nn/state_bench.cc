// SPDX-License-Identifier: Apache-2.0
//
// Taking modules apart and putting them together, for 10 to 1,000,000 variables in blocks of five.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "strata/nn/split.h"

namespace strata {
namespace {

struct Dense {
  Param kernel{tensor({1.0F})};
  Param bias{tensor({0.0F})};
  STRATA_FIELDS(kernel, bias)
};

// Two parameters of a dense layer, one of a scale, two statistics.
struct Block {
  Dense dense;
  Param scale{tensor({1.0F})};
  BatchStat mean{tensor({0.0F})};
  BatchStat var{tensor({1.0F})};
  STRATA_FIELDS(dense, scale, mean, var)
};

// Blocks stand behind shared_ptr, so that shared ones must be looked for.
struct Model {
  std::vector<std::vector<std::shared_ptr<Block>>> groups;

  explicit Model(Index leaves) {
    constexpr Index group_size = 32;
    for (Index block = 0; block < leaves / 5; ++block) {
      if (block % group_size == 0) groups.emplace_back();
      groups.back().push_back(std::make_shared<Block>());
    }
  }
  STRATA_FIELDS(groups)
};

void leaves_per_second(benchmark::State& run) {
  run.SetItemsProcessed(static_cast<std::int64_t>(run.iterations()) * run.range(0));
}

void split_all(benchmark::State& run) {
  const Model model(run.range(0));
  for (auto _ : run) benchmark::DoNotOptimize(nn::split(model));
  leaves_per_second(run);
}

void split3(benchmark::State& run) {
  const Model model(run.range(0));
  for (auto _ : run) benchmark::DoNotOptimize(nn::split(model, of_type<Param>, of_type<BatchStat>, rest));
  leaves_per_second(run);
}

void state(benchmark::State& run) {
  const Model model(run.range(0));
  for (auto _ : run) benchmark::DoNotOptimize(nn::state(model));
  leaves_per_second(run);
}

void split_state3(benchmark::State& run) {
  const State whole = nn::state(Model(run.range(0)));
  for (auto _ : run) benchmark::DoNotOptimize(split(whole, of_type<Param>, of_type<BatchStat>, rest));
  leaves_per_second(run);
}

void merge(benchmark::State& run) {
  const auto [graph, whole] = nn::split(Model(run.range(0)));
  for (auto _ : run) benchmark::DoNotOptimize(nn::merge(graph, whole));
  leaves_per_second(run);
}

void update(benchmark::State& run) {
  Model model(run.range(0));
  const State whole = nn::state(model);
  for (auto _ : run) nn::update(model, whole);
  leaves_per_second(run);
}

void clone(benchmark::State& run) {
  const Model model(run.range(0));
  for (auto _ : run) benchmark::DoNotOptimize(nn::clone(model));
  leaves_per_second(run);
}

void sizes(benchmark::internal::Benchmark* operation) {
  operation->ArgName("leaves")->RangeMultiplier(10)->Range(10, 1000000);
}

BENCHMARK(split_all)->Name("BM_State/split")->Apply(sizes);
BENCHMARK(split3)->Name("BM_State/split3")->Apply(sizes);
BENCHMARK(state)->Name("BM_State/state")->Apply(sizes);
BENCHMARK(split_state3)->Name("BM_State/split_state3")->Apply(sizes);
BENCHMARK(merge)->Name("BM_State/merge")->Apply(sizes);
BENCHMARK(update)->Name("BM_State/update")->Apply(sizes);
BENCHMARK(clone)->Name("BM_State/clone")->Apply(sizes);

}  // namespace
}  // namespace strata
