// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "strata/recurrent/internal/kernels/cell_layout.h"
#include "strata/recurrent/internal/kernels/row_order.h"

// Recurrent sequences as a plain loop in double, element by element, for the tests of the fused kernels.
namespace strata::recurrent::internal {

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
  PaddingOutput padding = PaddingOutput::keep;
  bool residual = false;
  bool time_major = false;
  bool side_by_side = false;  // the kernels of all gates in one matrix

  [[nodiscard]] SequenceShape shape() const {
    return {padded_rows(rows, steps, lengths.empty() ? nullptr : lengths.data(), time_major),
            steps,
            time_major ? rows : 1,
            reverse,
            keep_order,
            padding};
  }
  [[nodiscard]] int gates() const { return layout_of(kind).gates; }
  [[nodiscard]] Index length(Index b) const { return lengths.empty() ? steps : lengths[static_cast<std::size_t>(b)]; }
};

inline std::ostream& operator<<(std::ostream& out, const Case& c) {
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

inline Numbers random_numbers(Index count, double scale, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  Numbers numbers(static_cast<std::size_t>(count));
  // Exact in float32, so that both types run on the same numbers.
  for (double& v : numbers) v = static_cast<float>(uniform(generator));
  return numbers;
}

inline Values random_values(const Case& k) {
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

inline Result random_cotangents(const Case& k) {
  return {random_numbers(k.rows * k.steps * k.hidden, 1, 8), random_numbers(k.rows * k.hidden, 1, 9),
          random_numbers(k.kind == CellKind::lstm ? k.rows * k.hidden : 0, 1, 10)};
}

inline double logistic(double v) { return 1 / (1 + std::exp(-v)); }

// The pre-activation of a gate, the input's and the state's part of it.
inline std::pair<double, double> gate_sums(const Case& k, const Values& v, int gate, Index unit, const double* x,
                                           const double* h) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  double from_input = v.input_biases[at(gate * k.hidden + unit)];
  double from_state = v.recurrent_biases[at(gate * k.hidden + unit)];
  for (Index i = 0; i < k.input; ++i) from_input += x[i] * v.input_kernels[at((gate * k.input + i) * k.hidden + unit)];
  for (Index i = 0; i < k.hidden; ++i)
    from_state += h[i] * v.recurrent_kernels[at((gate * k.hidden + i) * k.hidden + unit)];
  return {from_input, from_state};
}

inline void plain_step(const Case& k, const Values& v, const double* x, double* h, double* c) {
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
inline Index flipped(const Case& k, Index length, Index t) { return (k.steps - 1 - t + length) % k.steps; }

inline Result plain_loop(const Case& k, const Values& v) {
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
      if (t >= length && k.padding != PaddingOutput::keep) {
        if (k.padding == PaddingOutput::repeat_last) std::copy(last.begin(), last.end(), y);
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

inline double loss(const Case& k, const Values& v, const Result& weights) {
  const Result r = plain_loop(k, v);
  const auto dot = [](const Numbers& a, const Numbers& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  return dot(r.y, weights.y) + dot(r.h, weights.h) + dot(r.c, weights.c);
}

}  // namespace strata::recurrent::internal
