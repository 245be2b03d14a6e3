// SPDX-License-Identifier: Apache-2.0
//
// Ordered splits of states, for 10 to 100,000 variables in blocks of five, with four lists of filters.
//
// `split` is all of the split, its groups included; `copy` makes one group without asking any filter. `compiled` is
// what the filters cost within a split, from making the program to the last variable; `one_by_one` asks the same
// filters without a program.
#include <benchmark/benchmark.h>

#include <vector>

#include "strata/filters/internal/program.h"
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

using Filters = std::vector<Filter>;

const Filters kinds{of_type<Param>, of_type<BatchStat>, rest};  // NOLINT(cert-err58-cpp)

const Filters composed{// NOLINT(cert-err58-cpp)
                       of_type<Param> && path_contains("dense") && !with_tag("lora"),
                       any(with_tag("lora"), of_type<Param>), path_contains("mean") || path_contains("var"), rest};

const Filters texts{// NOLINT(cert-err58-cpp)
                    path_like("bias"), path_like("kern") && !with_tag("lora"), path_like("ea"), rest};

// One group for each of the first sixteen positions in a list.
Filters sixteen() {
  Filters filters;
  for (int i = 0; i < 16; ++i) filters.push_back(of_type<Param> && path_contains(i));
  filters.push_back(rest);
  return filters;
}

void count_variables(benchmark::State& run) {
  run.SetItemsProcessed(static_cast<std::int64_t>(run.iterations()) * run.range(0));
}

void copy(benchmark::State& run) {
  const State state = blocks(run.range(0));
  for (auto _ : run) {
    std::vector<State::Entry> entries(state.begin(), state.end());
    benchmark::DoNotOptimize(State(std::move(entries)));
  }
  count_variables(run);
}

void split(benchmark::State& run, const Filters& filters) {
  const State state = blocks(run.range(0));
  for (auto _ : run) benchmark::DoNotOptimize(split_groups(state, filters, Leftover::error));
  count_variables(run);
}

void compiled(benchmark::State& run, const Filters& filters) {
  const State state = blocks(run.range(0));
  for (auto _ : run) {
    internal::Program program(filters);
    for (const auto& [path, variable] : state) benchmark::DoNotOptimize(program.first_match(path, variable));
  }
  count_variables(run);
}

void one_by_one(benchmark::State& run, const Filters& filters) {
  const State state = blocks(run.range(0));
  for (auto _ : run) {
    for (const auto& [path, variable] : state) {
      std::size_t taker = 0;
      while (!filters[taker](path, variable)) ++taker;
      benchmark::DoNotOptimize(taker);
    }
  }
  count_variables(run);
}

void sizes(benchmark::internal::Benchmark* b) { b->ArgName("variables")->Arg(10)->Arg(1000)->Arg(10000)->Arg(100000); }

BENCHMARK(copy)->Apply(sizes);
#define STRATA_BENCHMARKS_OF(name, filters)                 \
  BENCHMARK_CAPTURE(split, name, filters)->Apply(sizes);    \
  BENCHMARK_CAPTURE(compiled, name, filters)->Apply(sizes); \
  BENCHMARK_CAPTURE(one_by_one, name, filters)->Apply(sizes);
STRATA_BENCHMARKS_OF(kinds, kinds)
STRATA_BENCHMARKS_OF(composed, composed)
STRATA_BENCHMARKS_OF(texts, texts)
STRATA_BENCHMARKS_OF(sixteen, sixteen())

}  // namespace
}  // namespace strata
