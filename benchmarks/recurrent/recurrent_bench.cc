// SPDX-License-Identifier: Apache-2.0

// Recurrent layers: inference over sequences (fwd), forward and backward pass (train), single steps with a carried
// state (step). Weights and gradients are in their public layout at entry and exit of `train`; `fwd` and `step` run on
// packed weights. Names:
//
//   BM_Recurrent/<cell>/<mode>/B:<rows>/T:<steps>/I:<input>/H:<hidden>[/bidir][/ragged]/threads:<number>
//
// Items are floating point operations of the products of pairs that carry data.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "strata/recurrent/internal/row_groups.h"
#include "strata/recurrent/internal/sequence.h"
#include "strata/recurrent/internal/stream_state.h"
#include "strata/tensor/thread_pool.h"

namespace {

using namespace strata::recurrent::internal;
using strata::Index;

struct Point {
  CellKind kind;
  Index rows;
  Index steps;
  Index size;  // of input and hidden
  bool bidirectional = false;
  bool ragged = false;
  int threads = 1;

  [[nodiscard]] Index directions() const { return bidirectional ? 2 : 1; }
  [[nodiscard]] Index gates() const { return layout_of(kind).gates; }
};

std::vector<float> random_numbers(Index count, float scale) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& v : numbers) v = uniform(generator);
  return numbers;
}

// Uniform in [steps / 8, steps], by the golden ratio.
std::vector<std::int64_t> ragged_lengths(const Point& p) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(p.rows));
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const double x = static_cast<double>(b + 1) * 0.6180339887498949;
    const double range = static_cast<double>(p.steps - p.steps / 8 + 1);
    lengths[b] = p.steps / 8 + static_cast<std::int64_t>(std::floor((x - std::floor(x)) * range));
  }
  return lengths;
}

// Kernels of all gates side by side, as in the fused cells, or their gradients.
struct Weights {
  std::vector<float> input, recurrent, input_bias, recurrent_bias;

  explicit Weights(const Point& p)
      : input(random_numbers(p.gates() * p.size * p.size, 1 / std::sqrt(static_cast<float>(p.size)))),
        recurrent(input),
        input_bias(random_numbers(p.gates() * p.size, 0.1F)),
        recurrent_bias(input_bias) {}

  template <class T, class Self>
  static GateArrays<T> arrays(const Point& p, Self& self) {
    GateArrays<T> a;
    for (Index g = 0; g < p.gates(); ++g) {
      const auto i = static_cast<std::size_t>(g);
      a.input[i] = {self.input.data() + g * p.size, p.gates() * p.size};
      a.recurrent[i] = {self.recurrent.data() + g * p.size, p.gates() * p.size};
      a.input_bias[i] = self.input_bias.data() + g * p.size;
      a.recurrent_bias[i] = self.recurrent_bias.data() + g * p.size;
    }
    return a;
  }
};

// One layer with its data. Both directions have weights of their own and write their halves of y.
struct Layer {
  Point p;
  std::vector<std::int64_t> lengths;
  std::vector<float> x, y, dy, dx;
  Weights weights, gradients;

  explicit Layer(const Point& point)
      : p(point),
        lengths(ragged_lengths(p)),
        x(random_numbers(p.rows * p.steps * p.size, 1)),
        y(random_numbers(p.rows * p.steps * p.size * p.directions(), 1)),
        dy(y),
        dx(x.size() * static_cast<std::size_t>(p.directions())),
        weights(p),
        gradients(p) {}

  [[nodiscard]] CellShape cell() const { return {p.kind, p.size, p.size}; }
  [[nodiscard]] SequenceShape shape(Index direction) const {
    return {p.rows,         p.steps,        p.ragged ? lengths.data() : nullptr,
            direction == 1, direction == 1, p.ragged ? Padding::zero : Padding::compute};
  }
  [[nodiscard]] SequenceView<const float> input() const { return {x.data(), p.steps * p.size, p.size}; }
  template <class T>
  [[nodiscard]] SequenceView<T> output(T* data, Index direction) const {
    const Index features = p.directions() * p.size;
    return {data + direction * p.size, p.steps * features, features};
  }
  [[nodiscard]] double operations(int passes) const {
    Index pairs = p.rows * p.steps;
    if (p.ragged) {
      pairs = 0;
      for (const std::int64_t length : lengths) pairs += length;
    }
    return static_cast<double>(passes * p.directions() * pairs * pair_operations(cell()));
  }

  void infer(Index direction, const PackedWeights<float>& packed) {
    forward(packed, shape(direction), input(), {}, output(y.data(), direction), {}, static_cast<Tape<float>*>(nullptr));
  }

  void train(Index direction) {
    PackedWeights<float> packed(cell());
    const auto arrays = Weights::arrays<const float>(p, weights);
    pack(packed, arrays);
    Tape<float> tape;
    forward(packed, shape(direction), input(), {}, output(y.data(), direction), {}, &tape);
    pack_transposed(packed, arrays);
    Gradients<float> to;
    to.x = {dx.data() + direction * static_cast<Index>(x.size()), p.steps * p.size, p.size};
    to.weights = Weights::arrays<float>(p, gradients);
    to.add = direction == 1;
    Cotangents<float> from;
    from.y = output<const float>(dy.data(), direction);
    backward(packed, tape, input(), from, to);
  }

  // Calls run(direction) for all directions, on two threads where there are two.
  template <class F>
  void for_directions(const F& run) {
    strata::parallel_for(0, p.directions(), 1, [&](Index begin, Index end) {
      for (Index direction = begin; direction < end; ++direction) run(direction);
    });
  }
};

void count_operations(benchmark::State& state, double operations) {
  state.counters["FLOP/s"] =
      benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

void run_forward(benchmark::State& state, const Point& p) {
  strata::set_num_threads(p.threads);
  Layer layer(p);
  PackedWeights<float> packed(layer.cell());
  pack(packed, Weights::arrays<const float>(p, layer.weights));
  for (auto _ : state) {
    layer.for_directions([&](Index direction) { layer.infer(direction, packed); });
    benchmark::DoNotOptimize(layer.y.data());
  }
  count_operations(state, layer.operations(1));
}

void run_training(benchmark::State& state, const Point& p) {
  strata::set_num_threads(p.threads);
  Layer layer(p);
  for (auto _ : state) {
    // One after the other, as both add to gradients.
    for (Index direction = 0; direction < p.directions(); ++direction) layer.train(direction);
    benchmark::DoNotOptimize(layer.gradients.input.data());
  }
  count_operations(state, layer.operations(3));
}

// Single calls: median, 99th percentile and worst, in nanoseconds.
void run_steps(benchmark::State& state, const Point& p) {
  strata::set_num_threads(p.threads);
  Layer layer(p);
  PackedWeights<float> packed(layer.cell());
  pack(packed, Weights::arrays<const float>(p, layer.weights));
  StreamState<float> stream(packed, p.rows);
  std::vector<double> nanoseconds;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    stream.step({layer.x.data(), p.size}, {layer.y.data(), p.size});
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    benchmark::DoNotOptimize(layer.y.data());
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
  count_operations(state, layer.operations(1));
}

void add(const char* mode, void (*run)(benchmark::State&, const Point&), const Point& p) {
  const auto number = [](const char* name, Index value) {
    return std::string("/") + name + ":" + std::to_string(value);
  };
  const std::string name = std::string("BM_Recurrent/") + (p.kind == CellKind::lstm ? "LSTM/" : "GRU/") + mode +
                           number("B", p.rows) + number("T", p.steps) + number("I", p.size) + number("H", p.size) +
                           (p.bidirectional ? "/bidir" : "") + (p.ragged ? "/ragged" : "") +
                           number("threads", p.threads);
  benchmark::RegisterBenchmark(name.c_str(), run, p)->UseRealTime()->Unit(benchmark::kMicrosecond);
}

void add_points(CellKind kind, Index size, Index rows, int threads) {
  add("step", run_steps, {.kind = kind, .rows = rows, .steps = 1, .size = size, .threads = threads});
  for (const Index steps : {32, 128}) {
    Point p{.kind = kind, .rows = rows, .steps = steps, .size = size, .threads = threads};
    add("fwd", run_forward, p);
    add("train", run_training, p);
    p.bidirectional = p.ragged = true;
    add("fwd", run_forward, p);
    add("train", run_training, p);
  }
}

[[maybe_unused]] const bool registered = [] {
  for (const CellKind kind : {CellKind::lstm, CellKind::gru}) {
    for (const Index size : {16, 32, 64, 128, 256, 512, 1024}) {
      for (const Index rows : {1, 8, 32, 128}) {
        for (const int threads : {1, 2}) add_points(kind, size, rows, threads);
      }
    }
  }
  return true;
}();

}  // namespace
