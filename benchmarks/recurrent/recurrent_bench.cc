// SPDX-License-Identifier: Apache-2.0

// Recurrent layers through their public interface: inference over sequences (fwd), forward and backward pass with the
// gradients of weights, biases and input (train), single steps of a stream (step). Names:
//
//   BM_Recurrent/<cell>/<mode>/B:<rows>/T:<steps>/I:<input>/H:<hidden>[/bidir][/ragged][/packed|/masked]/threads:<number>
//
// `ragged` pads the batch and passes lengths, `packed` passes the same sequences packed, `masked` the same number of
// steps spread over the whole time by a mask.
// FLOP/s counts the products of pairs that carry data.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "strata/nn/split.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/rnn.h"
#include "strata/recurrent/stream.h"
#include "strata/tensor/create.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/random.h"
#include "strata/tensor/thread_pool.h"

namespace {

using namespace strata::recurrent;
using strata::Index;
using strata::Tensor;

struct Point {
  const char* cell;
  Index gates;
  Index rows;
  Index steps;
  Index input;
  Index hidden;
  int threads;
  bool is_bidirectional = false;
  bool is_ragged = false;
  bool is_packed = false;  // of ragged ones, as is
  bool is_masked = false;
};

// Uniform in [steps / 8, steps], by the golden ratio.
std::vector<Index> ragged_lengths(const Point& p) {
  std::vector<Index> lengths(static_cast<std::size_t>(p.rows));
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const double x = static_cast<double>(b + 1) * 0.6180339887498949;
    const double range = static_cast<double>(p.steps - p.steps / 8 + 1);
    lengths[b] = p.steps / 8 + static_cast<Index>(std::floor((x - std::floor(x)) * range));
  }
  return lengths;
}

Tensor lengths_of(const Point& p) { return strata::tensor(ragged_lengths(p), {p.rows}); }

Tensor mask_of(const Point& p) {
  Tensor mask = strata::zeros({p.rows, p.steps}, strata::DType::boolean);
  auto runs = mask.mutable_data<bool>().begin();
  for (const Index length : ragged_lengths(p)) {
    for (Index t = 0; t < p.steps; ++t) *runs++ = (t + 1) * length / p.steps > t * length / p.steps;
  }
  return mask;
}

void count_operations(benchmark::State& state, const Point& p, int passes) {
  Index pairs = p.rows * p.steps;
  if (p.is_ragged) {
    pairs = 0;
    for (const Index length : ragged_lengths(p)) pairs += length;
  }
  const Index operations =
      passes * (p.is_bidirectional ? 2 : 1) * pairs * 2 * p.gates * p.hidden * (p.input + p.hidden);
  state.counters["FLOP/s"] = benchmark::Counter(
      static_cast<double>(operations), benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

Tensor input_of(const Point& p) { return strata::random::normal(strata::random::key(1), {p.rows, p.steps, p.input}); }

// What a layer takes: x of all steps, or of the real ones.
Tensor given_steps(const Point& p, const Tensor& x) {
  return p.is_packed ? PackedSequence::from_padded(x, lengths_of(p)).data() : x;
}

// Calls f(layer) with an RNN or a Bidirectional of such cells.
template <class C, class F>
void with_layer(const Point& p, const F& f) {
  strata::set_num_threads(p.threads);
  strata::Rngs rngs(0);
  if (p.is_bidirectional) {
    f(Bidirectional<C>{C{p.input, p.hidden, rngs}, C{p.input, p.hidden, rngs}});
  } else {
    f(RNN<C>{C{p.input, p.hidden, rngs}});
  }
}

template <class L>
Tensor outputs(L& layer, const Point& p, const Tensor& x) {
  if (!p.is_ragged) return layer(x);
  if (p.is_packed) return layer(PackedSequence(x, lengths_of(p))).data();
  if (p.is_masked) return layer(x, {.mask = mask_of(p), .padding_output = PaddingOutput::zero});
  return layer(x, {.seq_lengths = lengths_of(p), .padding_output = PaddingOutput::zero});
}

template <class C>
void run_forward(benchmark::State& state, const Point& p) {
  with_layer<C>(p, [&](auto layer) {
    const Tensor x = given_steps(p, input_of(p));
    for (auto _ : state) {
      const Tensor y = outputs(layer, p, x);
      benchmark::DoNotOptimize(y.bytes().data());
    }
  });
  count_operations(state, p, 1);
}

template <class C>
void run_training(benchmark::State& state, const Point& p) {
  with_layer<C>(p, [&](auto layer) {
    const Tensor x = given_steps(p, input_of(p));
    const strata::State weights = strata::nn::state(layer);
    const Tensor dy = strata::ones_like(outputs(layer, p, x));
    for (auto _ : state) {
      strata::GradientTape tape;
      std::vector<Tensor> sources{tape.watch(x)};
      strata::State watched = weights;
      for (const auto& [path, variable] : weights) {
        sources.push_back(tape.watch(variable.value()));
        watched.at(path).reset(sources.back());
      }
      strata::nn::update(layer, watched);
      const Tensor y = outputs(layer, p, sources[0]);
      const std::vector<Tensor> gradients =
          tape.gradient(std::span<const Tensor>(&y, 1), std::span<const Tensor>(&dy, 1), sources);
      benchmark::DoNotOptimize(gradients[0].bytes().data());
    }
  });
  count_operations(state, p, 3);
}

// Single calls: median, 99th percentile and worst, in nanoseconds.
template <class C>
void run_steps(benchmark::State& state, const Point& p) {
  strata::set_num_threads(p.threads);
  strata::Rngs rngs(0);
  auto stream = strata::recurrent::stream(C{p.input, p.hidden, rngs}, p.rows, {.use_thread_pool = p.threads > 1});
  const Tensor x = input_of(p);
  std::vector<float> y(static_cast<std::size_t>(p.rows * p.hidden));
  std::vector<double> nanoseconds;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    stream.step(x.data<float>(), y);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    benchmark::DoNotOptimize(y.data());
    nanoseconds.push_back(time.count());
  }
  std::sort(nanoseconds.begin(), nanoseconds.end());
  const auto at = [&](double part) {
    return nanoseconds[static_cast<std::size_t>(part * static_cast<double>(nanoseconds.size() - 1))];
  };
  state.counters["min_ns"] = at(0);
  state.counters["median_ns"] = at(0.5);
  state.counters["p99_ns"] = at(0.99);
  state.counters["max_ns"] = at(1);
  count_operations(state, p, 1);
}

void add(const char* mode, void (*run)(benchmark::State&, const Point&), const Point& p) {
  const auto number = [](const char* name, Index value) {
    return std::string("/") + name + ":" + std::to_string(value);
  };
  const std::string name = std::string("BM_Recurrent/") + p.cell + "/" + mode + number("B", p.rows) +
                           number("T", p.steps) + number("I", p.input) + number("H", p.hidden) +
                           (p.is_bidirectional ? "/bidir" : "") + (p.is_ragged ? "/ragged" : "") +
                           (p.is_packed ? "/packed" : "") + (p.is_masked ? "/masked" : "") +
                           number("threads", p.threads);
  benchmark::RegisterBenchmark(name.c_str(), run, p)->UseRealTime()->Unit(benchmark::kMicrosecond);
}

template <class C>
void add_sequences(Point p) {
  add("fwd", run_forward<C>, p);
  add("train", run_training<C>, p);
  p.is_bidirectional = p.is_ragged = true;
  for (bool Point::*const form : {&Point::is_ragged, &Point::is_packed, &Point::is_masked}) {
    p.is_packed = p.is_masked = false;
    p.*form = true;
    add("fwd", run_forward<C>, p);
    add("train", run_training<C>, p);
  }
}

template <class C>
void add_points(const char* cell, Index gates) {
  for (const int threads : {1, 2}) {
    for (const Index size : {16, 32, 64, 128, 256, 512, 1024}) {
      for (const Index rows : {1, 8, 32, 128}) {
        add("step", run_steps<C>, {cell, gates, rows, 1, size, size, threads});
        for (const Index steps : {32, 128}) add_sequences<C>({cell, gates, rows, steps, size, size, threads});
      }
    }
    for (const Index hidden : {16, 64})
      add_sequences<C>({cell, gates, 30, 29, 12, hidden, threads});  // the vowels demo
  }
}

[[maybe_unused]] const bool registered = [] {
  add_points<LSTMCell>("LSTM", 4);
  add_points<GRUCell>("GRU", 3);
  return true;
}();

}  // namespace
