// SPDX-License-Identifier: Apache-2.0

// The fused sequence kernels against a plain loop, element by element, and against central differences of that loop.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "recurrent/fused_run.h"
#include "strata/recurrent/internal/kernels/sequence.h"
#include "strata/recurrent/internal/streams/stream_state.h"
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
        for (const PaddingOutput padding : {PaddingOutput::keep, PaddingOutput::zero, PaddingOutput::repeat_last}) {
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

// Cases that a plain loop is quick enough for; with relu, so few units that no step crosses a kink.
std::vector<Case> small_cases() {
  std::vector<Case> small = cases();
  std::erase_if(small, [](const Case& k) { return k.hidden > (k.kind == CellKind::simple_relu ? 3 : 8); });
  return small;
}

class FusedGradients : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, FusedGradients, testing::ValuesIn(small_cases()));

TEST_P(FusedGradients, AgreeWithCentralDifferences) {
  const Case& k = GetParam();
  Values v = random_values(k);
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
    for (const PaddingOutput padding : {PaddingOutput::keep, PaddingOutput::zero}) {
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

TEST(FusedStream, StepByStepGivesTheBitsOfOneCall) {
  for (const CellKind kind : kinds) {
    for (const Index rows : {1, 5}) {
      const Case k{.kind = kind, .rows = rows, .steps = 4, .input = 6, .hidden = 36, .time_major = true};
      const Values v = random_values(k);
      const ForwardRun<float> once(k, v, false);
      const Memory<float> memory(k, v);
      StreamState<float> stream(once.weights, rows, true);
      stream.set_carry({rows_of<const float>(memory.h, k.hidden), rows_of<const float>(memory.c, k.hidden)});
      std::vector<float> y(once.y.size());
      for (Index t = 0; t < k.steps; ++t) {
        stream.step({memory.x.data() + t * rows * k.input, k.input}, {y.data() + t * rows * k.hidden, k.hidden});
      }
      std::vector<float> h(once.h.size());
      std::vector<float> c(once.c.size());
      stream.get_carry({rows_of<float>(h, k.hidden), rows_of<float>(c, k.hidden)});
      EXPECT_EQ(y, once.y);
      EXPECT_EQ(h, once.h);
      EXPECT_EQ(c, once.c);
    }
  }
}

TEST(FusedStream, BitsDoNotDependOnTheNumberOfThreads) {
  const Case k{.kind = CellKind::lstm, .rows = 8, .steps = 2, .input = 130, .hidden = 140, .time_major = true};
  const Values v = random_values(k);
  const Memory<float> memory(k, v);
  const ForwardRun<float> once(k, v, false);
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    StreamState<float> stream(once.weights, k.rows, true);
    stream.set_carry({rows_of<const float>(memory.h, k.hidden), rows_of<const float>(memory.c, k.hidden)});
    std::vector<float> y(once.y.size());
    for (Index t = 0; t < k.steps; ++t) {
      stream.step({memory.x.data() + t * k.rows * k.input, k.input}, {y.data() + t * k.rows * k.hidden, k.hidden});
    }
    EXPECT_EQ(y, once.y);
  }
}

TEST(FusedSequence, NanInPaddingWithoutCotangentStaysThere) {
  for (const PaddingOutput padding : {PaddingOutput::keep, PaddingOutput::zero, PaddingOutput::repeat_last}) {
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
        if (padding == PaddingOutput::repeat_last) continue;
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
  k.padding = PaddingOutput::zero;
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
