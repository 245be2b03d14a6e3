// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/random.h"

namespace strata {
namespace {

// Functions of vector_math-inl.h over float32 numbers that stay in the cache. Items are elements.
template <Tensor (*function)(const Tensor&)>
void unary(benchmark::State& state) {
  const Tensor x = abs(random::normal(random::key(0), {state.range(0)}));
  for (auto _ : state) benchmark::DoNotOptimize(function(x));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(unary<sigmoid>)->Name("BM_Sigmoid")->ArgName("elements")->Arg(1 << 13);
BENCHMARK(unary<tanh>)->Name("BM_Tanh")->ArgName("elements")->Arg(1 << 13);
BENCHMARK(unary<exp>)->Name("BM_Exp")->ArgName("elements")->Arg(1 << 13);
BENCHMARK(unary<log>)->Name("BM_Log")->ArgName("elements")->Arg(1 << 13);

}  // namespace
}  // namespace strata
