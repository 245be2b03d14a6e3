// SPDX-License-Identifier: Apache-2.0

// The fused sequence kernels against a plain loop, element by element, and against central differences of that loop.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "strata/recurrent/internal/sequence.h"
#include "strata/tensor/internal/simd.h"
#include "strata/tensor/thread_pool.h"

namespace strata::recurrent::internal {
namespace {

// Bounds on |a - b| / (1 + |b|), from the acceptance bounds for recurrent layers.
constexpr double float_output_bound = 2e-6;
constexpr double float_gradient_bound = 1e-5;
constexpr double double_output_bound = 1e-12;
constexpr double double_gradient_bound = 1e-9;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Numbers = std::vector<double>;

struct Case {
  CellKind kind;
  Index rows;
  Index steps;
  Index input;
  Index hidden;
  std::vector<std::int64_t> lengths = {};
  bool reverse = false;
  bool keep_order = false;
  Padding padding = Padding::compute;
  bool residual = false;
  bool time_major = false;
  bool side_by_side = false;  // the kernels of all gates in one matrix

  [[nodiscard]] SequenceShape shape() const {
    return {rows, steps, lengths.empty() ? nullptr : lengths.data(), reverse, keep_order, padding};
  }
  [[nodiscard]] int gates() const { return layout_of(kind).gates; }
  [[nodiscard]] Index length(Index b) const { return lengths.empty() ? steps : lengths[static_cast<std::size_t>(b)]; }
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  const char* names[] = {"lstm", "gru", "simple_tanh", "simple_relu"};
  return out << names[static_cast<int>(c.kind)] << " B" << c.rows << " T" << c.steps << " I" << c.input << " H"
             << c.hidden << (c.lengths.empty() ? "" : " lengths") << (c.reverse ? " reverse" : "")
             << (c.keep_order ? " keep_order" : "") << " padding " << static_cast<int>(c.padding)
             << (c.residual ? " residual" : "");
}

// Everything that goes into a sequence, or the gradients of it. x and y are [rows, steps, .].
struct Values {
  Numbers x, h, c, input_kernels, recurrent_kernels, input_biases, recurrent_biases;  // kernels [gate][in][hidden]

  std::vector<std::pair<std::string, Numbers*>> parts() {
    return {{"x", &x},
            {"h", &h},
            {"c", &c},
            {"input kernels", &input_kernels},
            {"recurrent kernels", &recurrent_kernels},
            {"input biases", &input_biases},
            {"recurrent biases", &recurrent_biases}};
  }
};

struct Result {
  Numbers y, h, c;
};

Numbers random_numbers(Index count, double scale, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  Numbers numbers(static_cast<std::size_t>(count));
  // Exact in float32, so that both types run on the same numbers.
  for (double& v : numbers) v = static_cast<float>(uniform(generator));
  return numbers;
}

Values random_values(const Case& k) {
  const double scale = 1 / std::sqrt(static_cast<double>(k.hidden));
  const Index gates = k.gates();
  return {.x = random_numbers(k.rows * k.steps * k.input, 1, 1),
          .h = random_numbers(k.rows * k.hidden, 1, 2),
          .c = random_numbers(k.kind == CellKind::lstm ? k.rows * k.hidden : 0, 1, 3),
          .input_kernels = random_numbers(gates * k.input * k.hidden, scale, 4),
          .recurrent_kernels = random_numbers(gates * k.hidden * k.hidden, scale, 5),
          .input_biases = random_numbers(gates * k.hidden, 0.5, 6),
          .recurrent_biases = random_numbers(gates * k.hidden, 0.5, 7)};
}

Result random_cotangents(const Case& k) {
  return {random_numbers(k.rows * k.steps * k.hidden, 1, 8), random_numbers(k.rows * k.hidden, 1, 9),
          random_numbers(k.kind == CellKind::lstm ? k.rows * k.hidden : 0, 1, 10)};
}

// ----------------------------------------------------------------------------------------------------------------
// plain loop

double logistic(double v) { return 1 / (1 + std::exp(-v)); }

// The pre-activation of a gate, the input's and the state's part of it.
std::pair<double, double> gate_sums(const Case& k, const Values& v, int gate, Index unit, const double* x,
                                    const double* h) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  double from_input = v.input_biases[at(gate * k.hidden + unit)];
  double from_state = v.recurrent_biases[at(gate * k.hidden + unit)];
  for (Index i = 0; i < k.input; ++i) from_input += x[i] * v.input_kernels[at((gate * k.input + i) * k.hidden + unit)];
  for (Index i = 0; i < k.hidden; ++i)
    from_state += h[i] * v.recurrent_kernels[at((gate * k.hidden + i) * k.hidden + unit)];
  return {from_input, from_state};
}

void plain_step(const Case& k, const Values& v, const double* x, double* h, double* c) {
  const Numbers before(h, h + k.hidden);
  for (Index u = 0; u < k.hidden; ++u) {
    const auto parts = [&](int gate) { return gate_sums(k, v, gate, u, x, before.data()); };
    const auto sum = [&](int gate) { return parts(gate).first + parts(gate).second; };
    if (k.kind == CellKind::lstm) {
      c[u] = logistic(sum(1)) * c[u] + logistic(sum(0)) * std::tanh(sum(2));
      h[u] = logistic(sum(3)) * std::tanh(c[u]);
    } else if (k.kind == CellKind::gru) {
      const double n = std::tanh(parts(2).first + logistic(sum(0)) * parts(2).second);
      const double z = logistic(sum(1));
      h[u] = (1 - z) * n + z * h[u];
    } else {
      const double a = sum(0) + (k.residual ? before[static_cast<std::size_t>(u)] : 0);
      h[u] = k.kind == CellKind::simple_relu ? std::max(a, 0.0) : std::tanh(a);
    }
  }
}

// Where flip_sequences takes step t of a row from.
Index flipped(const Case& k, Index length, Index t) { return (k.steps - 1 - t + length) % k.steps; }

Result plain_loop(const Case& k, const Values& v) {
  Result r{Numbers(static_cast<std::size_t>(k.rows * k.steps * k.hidden)), v.h, v.c};
  for (Index b = 0; b < k.rows; ++b) {
    const Index length = k.length(b);
    Numbers h(v.h.begin() + b * k.hidden, v.h.begin() + (b + 1) * k.hidden);
    Numbers c(static_cast<std::size_t>(k.hidden));
    if (!v.c.empty()) std::copy_n(v.c.begin() + b * k.hidden, k.hidden, c.begin());
    Numbers last(static_cast<std::size_t>(k.hidden));
    for (Index t = 0; t < k.steps; ++t) {
      const Index from = k.reverse ? flipped(k, length, t) : t;
      const Index to = k.reverse && k.keep_order ? from : t;
      const auto y = r.y.begin() + (b * k.steps + to) * k.hidden;
      if (t >= length && k.padding != Padding::compute) {
        if (k.padding == Padding::repeat_last) std::copy(last.begin(), last.end(), y);
        continue;
      }
      plain_step(k, v, v.x.data() + (b * k.steps + from) * k.input, h.data(), c.data());
      std::copy(h.begin(), h.end(), y);
      last = h;
      if (t != length - 1) continue;
      std::copy(h.begin(), h.end(), r.h.begin() + b * k.hidden);
      if (!v.c.empty()) std::copy(c.begin(), c.end(), r.c.begin() + b * k.hidden);
    }
  }
  return r;
}

double loss(const Case& k, const Values& v, const Result& weights) {
  const Result r = plain_loop(k, v);
  const auto dot = [](const Numbers& a, const Numbers& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  return dot(r.y, weights.y) + dot(r.h, weights.h) + dot(r.c, weights.c);
}

// -------------------------------------------------------------------------------------------------------------------
// kernels

// Values as the kernels take them: type, strides of the sequence, layout of the weights.
template <class T>
struct Memory {
  std::vector<T> x, h, c, input_kernels, recurrent_kernels, input_biases, recurrent_biases;

  Memory(const Case& k, const Values& v)
      : x(sequence(k, v.x, k.input)),
        h(v.h.begin(), v.h.end()),
        c(v.c.begin(), v.c.end()),
        input_kernels(kernels(k, v.input_kernels, k.input)),
        recurrent_kernels(kernels(k, v.recurrent_kernels, k.hidden)),
        input_biases(v.input_biases.begin(), v.input_biases.end()),
        recurrent_biases(v.recurrent_biases.begin(), v.recurrent_biases.end()) {}

  static std::size_t sequence_place(const Case& k, Index b, Index t, Index i, Index features) {
    return static_cast<std::size_t>((k.time_major ? t * k.rows + b : b * k.steps + t) * features + i);
  }
  static std::vector<T> sequence(const Case& k, const Numbers& v, Index features) {
    std::vector<T> result(v.size());
    for (Index i = 0; i < static_cast<Index>(v.size()); ++i) {
      const Index pair = i / features;
      result[sequence_place(k, pair / k.steps, pair % k.steps, i % features, features)] =
          static_cast<T>(v[static_cast<std::size_t>(i)]);
    }
    return result;
  }
  static Numbers from_sequence(const Case& k, const std::vector<T>& v, Index features) {
    Numbers result(v.size());
    for (Index i = 0; i < static_cast<Index>(v.size()); ++i) {
      const Index pair = i / features;
      result[static_cast<std::size_t>(i)] =
          v[sequence_place(k, pair / k.steps, pair % k.steps, i % features, features)];
    }
    return result;
  }
  static std::size_t kernel_place(const Case& k, Index i, Index rows) {
    const Index gate = i / (rows * k.hidden);
    const Index row = i / k.hidden % rows;
    const Index unit = i % k.hidden;
    return static_cast<std::size_t>(k.side_by_side ? (row * k.gates() + gate) * k.hidden + unit : i);
  }
  static std::vector<T> kernels(const Case& k, const Numbers& v, Index rows) {
    std::vector<T> result(v.size());
    for (std::size_t i = 0; i < v.size(); ++i)
      result[kernel_place(k, static_cast<Index>(i), rows)] = static_cast<T>(v[i]);
    return result;
  }
  static Numbers from_kernels(const Case& k, const std::vector<T>& v, Index rows) {
    Numbers result(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) result[i] = v[kernel_place(k, static_cast<Index>(i), rows)];
    return result;
  }
  Values values(const Case& k) const {
    const auto numbers = [](const std::vector<T>& v) { return Numbers(v.begin(), v.end()); };
    return {from_sequence(k, x, k.input),
            numbers(h),
            numbers(c),
            from_kernels(k, input_kernels, k.input),
            from_kernels(k, recurrent_kernels, k.hidden),
            numbers(input_biases),
            numbers(recurrent_biases)};
  }
};

template <class T>
SequenceView<T> view(const Case& k, T* data, Index features) {
  return k.time_major ? SequenceView<T>{data, features, k.rows * features}
                      : SequenceView<T>{data, k.steps * features, features};
}

template <class T, class M>
GateArrays<T> gate_arrays(const Case& k, M& memory) {
  GateArrays<T> arrays;
  for (Index g = 0; g < k.gates(); ++g) {
    const auto i = static_cast<std::size_t>(g);
    const Index stride = k.side_by_side ? k.gates() * k.hidden : k.hidden;
    arrays.input[i] = {memory.input_kernels.data() + g * k.hidden * (k.side_by_side ? 1 : k.input), stride};
    arrays.recurrent[i] = {memory.recurrent_kernels.data() + g * k.hidden * (k.side_by_side ? 1 : k.hidden), stride};
    arrays.input_bias[i] = memory.input_biases.data() + g * k.hidden;
    arrays.recurrent_bias[i] = memory.recurrent_biases.data() + g * k.hidden;
  }
  return arrays;
}

template <class T, class V>
Matrix<T> rows_of(V& values, Index hidden) {
  return values.empty() ? Matrix<T>{} : Matrix<T>{values.data(), hidden};
}

template <class T>
struct ForwardRun {
  std::vector<T> y, h, c;
  Tape<T> tape;
  PackedWeights<T> weights;

  ForwardRun(const Case& k, const Values& v, bool keep)
      : y(static_cast<std::size_t>(k.rows * k.steps * k.hidden), T{7}),
        h(v.h.size(), T{7}),
        c(v.c.size(), T{7}),
        weights({k.kind, k.input, k.hidden, k.residual}) {
    const Memory<T> memory(k, v);
    pack(weights, gate_arrays<const T>(k, memory));
    forward(weights, k.shape(), view(k, memory.x.data(), k.input),
            {rows_of<const T>(memory.h, k.hidden), rows_of<const T>(memory.c, k.hidden)}, view(k, y.data(), k.hidden),
            {rows_of<T>(h, k.hidden), rows_of<T>(c, k.hidden)}, keep ? &tape : nullptr);
  }

  [[nodiscard]] Result result(const Case& k) const {
    return {Memory<T>::from_sequence(k, y, k.hidden), Numbers(h.begin(), h.end()), Numbers(c.begin(), c.end())};
  }
};

// Gradients of sum(cotangent * result); weights' gradients start from `start`.
template <class T>
Values gradients(const Case& k, const Values& v, const Result& cotangents, double start = 7, bool add = false) {
  ForwardRun<T> run(k, v, true);
  const Memory<T> memory(k, v);
  pack_transposed(run.weights, gate_arrays<const T>(k, memory));
  Values filled = v;
  for (auto& [name, numbers] : filled.parts()) std::fill(numbers->begin(), numbers->end(), start);
  Memory<T> result(k, filled);
  const std::vector<T> dy = Memory<T>::sequence(k, cotangents.y, k.hidden);
  const std::vector<T> dh(cotangents.h.begin(), cotangents.h.end());
  const std::vector<T> dc(cotangents.c.begin(), cotangents.c.end());
  Gradients<T> to{view(k, result.x.data(), k.input),
                  {rows_of<T>(result.h, k.hidden), rows_of<T>(result.c, k.hidden)},
                  gate_arrays<T>(k, result),
                  add};
  backward(run.weights, run.tape, view(k, memory.x.data(), k.input),
           {view(k, dy.data(), k.hidden), {rows_of<const T>(dh, k.hidden), rows_of<const T>(dc, k.hidden)}}, to);
  return result.values(k);
}

double error(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double e = std::abs(a[i] - b[i]) / (1 + std::abs(b[i]));
    worst = e <= worst ? worst : e;  // NaN counts
  }
  return worst;
}

void expect_near(const Result& a, const Result& b, double bound) {
  EXPECT_LE(error(a.y, b.y), bound) << "y";
  EXPECT_LE(error(a.h, b.h), bound) << "h";
  EXPECT_LE(error(a.c, b.c), bound) << "c";
}

void expect_near(Values a, Values b, double bound) {
  const auto expected = b.parts();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LE(error(*a.parts()[i].second, *expected[i].second), bound) << expected[i].first;
  }
}

void expect_same_bits(const Values& a, const Values& b) {
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.h, b.h);
  EXPECT_EQ(a.c, b.c);
  EXPECT_EQ(a.input_kernels, b.input_kernels);
  EXPECT_EQ(a.recurrent_kernels, b.recurrent_kernels);
  EXPECT_EQ(a.input_biases, b.input_biases);
  EXPECT_EQ(a.recurrent_biases, b.recurrent_biases);
}

constexpr CellKind kinds[] = {CellKind::lstm, CellKind::gru, CellKind::simple_tanh, CellKind::simple_relu};

// Sizes around the vector and tile sizes of every instruction set, and every way to run a sequence.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const CellKind kind : kinds) {
    all.push_back({.kind = kind, .rows = 1, .steps = 1, .input = 1, .hidden = 1});
    all.push_back({.kind = kind, .rows = 1, .steps = 5, .input = 3, .hidden = 17});
    all.push_back({.kind = kind, .rows = 1, .steps = 2, .input = 40, .hidden = 70});
    all.push_back({.kind = kind, .rows = 7, .steps = 4, .input = 33, .hidden = 8, .time_major = true});
    all.push_back({.kind = kind, .rows = 25, .steps = 12, .input = 5, .hidden = 16, .side_by_side = true});
    for (const bool reverse : {false, true}) {
      for (const bool keep_order : {false, true}) {
        for (const Padding padding : {Padding::compute, Padding::zero, Padding::repeat_last}) {
          all.push_back({.kind = kind,
                         .rows = 5,
                         .steps = 6,
                         .input = 2,
                         .hidden = 3,
                         .lengths = {3, 6, 0, 1, 5},
                         .reverse = reverse,
                         .keep_order = keep_order,
                         .padding = padding,
                         .residual = kind == CellKind::simple_tanh || kind == CellKind::simple_relu,
                         .time_major = reverse,
                         .side_by_side = keep_order});
        }
      }
    }
  }
  return all;
}

class FusedKernels : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, FusedKernels, testing::ValuesIn(cases()));

TEST_P(FusedKernels, ForwardAgreesWithPlainLoop) {
  const Case& k = GetParam();
  const Values v = random_values(k);
  const Result expected = plain_loop(k, v);
  for (const bool keep : {false, true}) {
    expect_near(ForwardRun<double>(k, v, keep).result(k), expected, double_output_bound);
    expect_near(ForwardRun<float>(k, v, keep).result(k), expected, float_output_bound);
  }
}

TEST_P(FusedKernels, BackwardAgreesWithCentralDifferences) {
  const Case& k = GetParam();
  Values v = random_values(k);
  if (k.hidden > 16) GTEST_SKIP() << "the differences of smaller cases suffice";
  if (k.kind == CellKind::simple_relu && k.hidden > 3) GTEST_SKIP() << "so many units that some steps cross a kink";
  const Result cotangents = random_cotangents(k);
  Values exact = gradients<double>(k, v, cotangents);
  // Five points: the error is of order step^4.
  constexpr double step = 3e-4;
  const auto parts = exact.parts();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Numbers& at = *v.parts()[p].second;
    for (std::size_t i = 0; i < at.size(); i += 1 + at.size() / 40) {
      const double middle = at[i];
      const auto moved = [&](double by) {
        at[i] = middle + by;
        return loss(k, v, cotangents);
      };
      const double difference = (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
      at[i] = middle;
      ASSERT_NEAR((*parts[p].second)[i], difference, double_gradient_bound * (1 + std::abs(difference)))
          << parts[p].first << " " << i;
    }
  }
}

TEST_P(FusedKernels, FloatGradientsAgreeWithDouble) {
  const Case& k = GetParam();
  const Values v = random_values(k);
  const Result cotangents = random_cotangents(k);
  expect_near(gradients<float>(k, v, cotangents), gradients<double>(k, v, cotangents), float_gradient_bound);
}

const Case ragged{.kind = CellKind::lstm,
                  .rows = 5,
                  .steps = 6,
                  .input = 2,
                  .hidden = 3,
                  .lengths = {3, 6, 0, 1, 5},
                  .reverse = true,
                  .keep_order = true};

TEST(FusedSequence, EveryInstructionSetAgreesWithPlainLoop) {
  const auto levels = ::strata::internal::available_instruction_sets();
  for (const auto level : levels) {
    ::strata::internal::limit_instruction_set(level);
    for (Case k : cases()) {
      SCOPED_TRACE(testing::Message() << level << ": " << k);
      const Values v = random_values(k);
      expect_near(ForwardRun<float>(k, v, true).result(k), plain_loop(k, v), float_output_bound);
      const Result cotangents = random_cotangents(k);
      expect_near(gradients<float>(k, v, cotangents), gradients<double>(k, v, cotangents), float_gradient_bound);
    }
  }
  ::strata::internal::limit_instruction_set(levels.front());
}

TEST(FusedSequence, StaysExactOverTwoHundredSteps) {
  for (const CellKind kind : kinds) {
    if (kind == CellKind::simple_relu) continue;  // grows without bound
    const Case k{.kind = kind, .rows = 3, .steps = 200, .input = 8, .hidden = 24};
    const Values v = random_values(k);
    expect_near(ForwardRun<float>(k, v, false).result(k), plain_loop(k, v), float_output_bound);
  }
}

// Work enough for every thread count to be used.
const Case large{.kind = CellKind::gru,
                 .rows = 40,
                 .steps = 30,
                 .input = 20,
                 .hidden = 40,
                 .lengths = {30, 2, 3, 29, 9, 8, 7, 30, 30, 30, 1, 2, 3, 29, 9, 8, 7, 30, 30, 30,
                             30, 2, 3, 29, 9, 8, 7, 30, 0,  30, 1, 2, 3, 29, 9, 8, 7, 30, 30, 30}};

TEST(FusedSequence, BitsDoNotDependOnTheNumberOfThreads) {
  for (Case k : {large, Case{.kind = CellKind::lstm, .rows = 7, .steps = 60, .input = 64, .hidden = 72}}) {
    for (const Padding padding : {Padding::compute, Padding::zero}) {
      k.padding = padding;
      const Values v = random_values(k);
      const Result cotangents = random_cotangents(k);
      set_num_threads(1);
      const ForwardRun<float> one(k, v, false);
      const Values one_gradients = gradients<float>(k, v, cotangents);
      for (const int threads : {2, 3, 8}) {
        set_num_threads(threads);
        const ForwardRun<float> many(k, v, false);
        EXPECT_EQ(one.y, many.y);
        EXPECT_EQ(one.h, many.h);
        expect_same_bits(one_gradients, gradients<float>(k, v, cotangents));
      }
    }
  }
}

TEST(FusedSequence, BitsOfARowDoNotDependOnTheBatchAroundIt) {
  for (const CellKind kind : kinds) {
    const Case batch{.kind = kind, .rows = 26, .steps = 4, .input = 6, .hidden = 36};
    const Values v = random_values(batch);
    const ForwardRun<float> together(batch, v, true);
    Case alone = batch;
    alone.rows = 1;
    for (const Index b : {0, 13, 25}) {
      Values row = v;
      const auto cut = [&](const Numbers& from, Index size) {
        return Numbers(from.begin() + b * size, from.begin() + (b + 1) * size);
      };
      row.x = cut(v.x, batch.steps * batch.input);
      row.h = cut(v.h, batch.hidden);
      if (!v.c.empty()) row.c = cut(v.c, batch.hidden);
      const ForwardRun<float> single(alone, row, false);
      const auto first = together.y.begin() + b * batch.steps * batch.hidden;
      EXPECT_EQ(single.y, std::vector<float>(first, first + batch.steps * batch.hidden));
    }
  }
}

TEST(FusedSequence, NanInPaddingWithoutCotangentStaysThere) {
  for (const Padding padding : {Padding::compute, Padding::zero, Padding::repeat_last}) {
    Case k = ragged;
    k.padding = padding;
    const Values v = random_values(k);
    Values poisoned = v;
    Result cotangents = random_cotangents(k);
    std::vector<std::size_t> padded_inputs;
    for (Index b = 0; b < k.rows; ++b) {
      for (Index t = k.length(b); t < k.steps; ++t) {
        for (Index i = 0; i < k.input; ++i)
          padded_inputs.push_back(static_cast<std::size_t>((b * k.steps + t) * k.input + i));
        if (padding == Padding::repeat_last) continue;
        std::fill_n(cotangents.y.begin() + (b * k.steps + t) * k.hidden, k.hidden, 0.0);
      }
    }
    for (const std::size_t i : padded_inputs) poisoned.x[i] = nan;
    const Values clean = gradients<double>(k, v, cotangents);
    expect_same_bits(clean, gradients<double>(k, poisoned, cotangents));
    for (const std::size_t i : padded_inputs) EXPECT_EQ(clean.x[i], 0);
    const ForwardRun<double> run(k, poisoned, false);
    EXPECT_EQ(run.h, ForwardRun<double>(k, v, false).h);
    EXPECT_EQ(run.c, ForwardRun<double>(k, v, false).c);
  }
}

TEST(FusedSequence, NanInValidStepsReachesTheResult) {
  for (const CellKind kind : kinds) {
    const Case k{.kind = kind, .rows = 1, .steps = 2, .input = 1, .hidden = 1};
    Values v = random_values(k);
    v.x[0] = nan;
    EXPECT_TRUE(std::isnan(ForwardRun<float>(k, v, false).h[0]));
  }
}

TEST(FusedSequence, RowOfLengthZeroKeepsItsCarryAndPassesItsCotangentOn) {
  const Values v = random_values(ragged);
  const Result cotangents = random_cotangents(ragged);
  Case k = ragged;
  k.padding = Padding::zero;
  const ForwardRun<double> run(k, v, false);
  const Values g = gradients<double>(k, v, cotangents);
  for (std::size_t i = 6; i < 9; ++i) {
    EXPECT_EQ(run.h[i], v.h[i]);
    EXPECT_EQ(run.c[i], v.c[i]);
    EXPECT_EQ(g.h[i], cotangents.h[i]);
    EXPECT_EQ(g.c[i], cotangents.c[i]);
  }
}

TEST(FusedSequence, NoStepsAndNoRowsWork) {
  for (const CellKind kind : kinds) {
    const Case no_steps{.kind = kind, .rows = 2, .steps = 0, .input = 3, .hidden = 5};
    const Values v = random_values(no_steps);
    const Result cotangents = random_cotangents(no_steps);
    EXPECT_EQ(ForwardRun<double>(no_steps, v, false).result(no_steps).h, v.h);
    const Values g = gradients<double>(no_steps, v, cotangents);
    EXPECT_EQ(g.h, cotangents.h);
    EXPECT_EQ(g.recurrent_kernels, Numbers(v.recurrent_kernels.size()));

    const Case no_rows{.kind = kind, .rows = 0, .steps = 4, .input = 3, .hidden = 5};
    const Values nothing = random_values(no_rows);
    EXPECT_TRUE(ForwardRun<double>(no_rows, nothing, false).y.empty());
    EXPECT_EQ(gradients<double>(no_rows, nothing, random_cotangents(no_rows)).input_biases,
              Numbers(nothing.input_biases.size()));
  }
}

TEST(FusedSequence, GradientsOfWeightsAreAddedOnRequest) {
  for (const CellKind kind : kinds) {
    const Case k{.kind = kind, .rows = 3, .steps = 4, .input = 5, .hidden = 9};
    const Values v = random_values(k);
    const Result cotangents = random_cotangents(k);
    const Values once = gradients<double>(k, v, cotangents);
    const Values added = gradients<double>(k, v, cotangents, 2, true);
    const auto plus_two = [](Numbers n) {
      for (double& x : n) x += 2;
      return n;
    };
    EXPECT_LE(error(added.input_kernels, plus_two(once.input_kernels)), double_output_bound);
    EXPECT_LE(error(added.recurrent_kernels, plus_two(once.recurrent_kernels)), double_output_bound);
    EXPECT_LE(error(added.input_biases, plus_two(once.input_biases)), double_output_bound);
    EXPECT_EQ(added.x, once.x);
    EXPECT_EQ(added.h, once.h);
  }
}

}  // namespace
}  // namespace strata::recurrent::internal
