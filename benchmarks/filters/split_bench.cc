// SPDX-License-Identifier: Apache-2.0
//
// Ordered splits of states, for 10 to 100,000 variables in blocks of five: time is all of the split, its groups included.
// `copy` makes one group without asking any filter: what is left above it is the cost of the filters.
#include <benchmark/benchmark.h>

#include <vector>

#include "strata/filters/split.h"
#include "strata/tensor/create.h"

namespace strata {
namespace {

// groups/<i / 32>/<i % 32>/{dense/{kernel, bias}, scale, mean, var}; every tenth block carries the tag `lora`.
State blocks(Index variables) {
  constexpr Index group_size = 32;
  const Tensor value = ones({1});
  std::vector<State::Entry> entries;
  for (Index i = 0; i < variables / 5; ++i) {
    const Path block{"groups", i / group_size, i % group_size};
    const Metadata metadata = i % 10 == 0 ? tagged("lora") : Metadata();
    entries.push_back({block / "dense" / "bias", Param(value, metadata)});
    entries.push_back({block / "dense" / "kernel", Param(value, metadata)});
    entries.push_back({block / "mean", BatchStat(value)});
    entries.push_back({block / "scale", Param(value, metadata)});
    entries.push_back({block / "var", BatchStat(value)});
  }
  return State(std::move(entries));
}

void run_split(benchmark::State& run, const std::vector<Filter>& filters) {
  const State state = blocks(run.range(0));
  for (auto _ : run) benchmark::DoNotOptimize(split_groups(state, filters, Leftover::error));
  run.SetItemsProcessed(static_cast<std::int64_t>(run.iterations()) * run.range(0));
}

void copy(benchmark::State& run) {
  const State state = blocks(run.range(0));
  for (auto _ : run) {
    std::vector<State::Entry> entries(state.begin(), state.end());
    benchmark::DoNotOptimize(State(std::move(entries)));
  }
  run.SetItemsProcessed(static_cast<std::int64_t>(run.iterations()) * run.range(0));
}

void kinds(benchmark::State& run) { run_split(run, {of_type<Param>, of_type<BatchStat>, rest}); }

void composed(benchmark::State& run) {
  run_split(run, {of_type<Param> && path_contains("dense") && !with_tag("lora"), any(with_tag("lora"), of_type<Param>),
                  path_contains("mean") || path_contains("var"), rest});
}

void texts(benchmark::State& run) {
  run_split(run, {path_like("bias"), path_like("kern") && !with_tag("lora"), path_like("ea"), rest});
}

// One group for each of the first sixteen positions in a list.
void sixteen(benchmark::State& run) {
  std::vector<Filter> filters;
  for (int i = 0; i < 16; ++i) filters.push_back(of_type<Param> && path_contains(i));
  filters.push_back(rest);
  run_split(run, filters);
}

#define STRATA_BENCHMARK(name) BENCHMARK(name)->ArgName("variables")->Arg(10)->Arg(1000)->Arg(10000)->Arg(100000)
STRATA_BENCHMARK(copy);
STRATA_BENCHMARK(kinds);
STRATA_BENCHMARK(composed);
STRATA_BENCHMARK(texts);
STRATA_BENCHMARK(sixteen);

}  // namespace
}  // namespace strata
