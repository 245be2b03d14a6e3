// SPDX-License-Identifier: Apache-2.0
//
// Eight small networks: loss and gradients of one ensemble, against the same of eight modules one after the other.
#include <benchmark/benchmark.h>

#include <vector>

#include "strata/nn/ensemble.h"
#include "strata/nn/linear.h"
#include "strata/nn/value_and_grad.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/random.h"
#include "strata/tensor/reduce.h"
#include "strata/tensor/thread_pool.h"

namespace strata {
namespace {

constexpr Index num_members = 8;
constexpr Index features = 32;

struct Network {
  nn::Linear a, b, c;

  Network(Index width, Rngs& rngs) : a{features, width, rngs}, b{width, width, rngs}, c{width, 1, rngs} {}
  Tensor operator()(const Tensor& x) const { return c(tanh(b(tanh(a(x))))); }
  STRATA_FIELDS(a, b, c)
};

Tensor loss_of(Network& network, const Tensor& x) {
  const Tensor y = network(x);
  return mean(y * y);
}

Tensor inputs(benchmark::State& run) { return random::normal(random::key(0), {run.range(1), features}); }

void count_members(benchmark::State& run) {
  run.SetItemsProcessed(static_cast<std::int64_t>(run.iterations()) * num_members);
}

void separate(benchmark::State& run) {
  set_num_threads(static_cast<int>(run.range(2)));
  Rngs rngs(0);
  std::vector<Network> networks;
  for (Rngs& of_member : rngs.split(num_members)) networks.emplace_back(run.range(0), of_member);
  const Tensor x = inputs(run);
  const auto step = nn::value_and_grad(loss_of, of_type<Param>);
  for (auto _ : run) {
    for (Network& network : networks) benchmark::DoNotOptimize(step(network, x));
  }
  count_members(run);
}

void ensemble(benchmark::State& run) {
  set_num_threads(static_cast<int>(run.range(2)));
  Rngs rngs(0);
  nn::Ensemble networks(num_members, rngs, [&](Rngs& of_member) { return Network(run.range(0), of_member); });
  const Tensor x = inputs(run);
  const auto step = nn::value_and_grad(loss_of, of_type<Param>);
  for (auto _ : run) benchmark::DoNotOptimize(networks.map(step, x));
  count_members(run);
}

void ensemble_forward(benchmark::State& run) {
  set_num_threads(static_cast<int>(run.range(2)));
  Rngs rngs(0);
  const nn::Ensemble networks(num_members, rngs, [&](Rngs& of_member) { return Network(run.range(0), of_member); });
  const Tensor x = inputs(run);
  for (auto _ : run) benchmark::DoNotOptimize(networks(x));
  count_members(run);
}

void separate_forward(benchmark::State& run) {
  set_num_threads(static_cast<int>(run.range(2)));
  Rngs rngs(0);
  std::vector<Network> networks;
  for (Rngs& of_member : rngs.split(num_members)) networks.emplace_back(run.range(0), of_member);
  const Tensor x = inputs(run);
  for (auto _ : run) {
    for (const Network& network : networks) benchmark::DoNotOptimize(network(x));
  }
  count_members(run);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"width", "batch", "threads"})->ArgsProduct({{16, 64, 256}, {32}, {1, 2}})->UseRealTime();
}

BENCHMARK(separate)->Name("BM_SeparateGrad")->Apply(sizes);
BENCHMARK(ensemble)->Name("BM_EnsembleGrad")->Apply(sizes);
BENCHMARK(separate_forward)->Name("BM_SeparateForward")->Apply(sizes);
BENCHMARK(ensemble_forward)->Name("BM_EnsembleForward")->Apply(sizes);

}  // namespace
}  // namespace strata
