// SPDX-License-Identifier: Apache-2.0

// An LSTM layer as one would write it with Eigen, at the points and under the names of recurrent_bench: one product
// with the input for all steps, one with the state in every step, gate functions on whole blocks. Compiled for the
// machine it is built on.

#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <string>

namespace {

using Eigen::Index;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Point {
  Index rows;
  Index steps;
  Index input;
  Index hidden;
};

template <class Block>
auto sigmoid(const Block& x) {
  return (1 + (-x).exp()).inverse();
}

// x and y are [steps * rows, features], step by step.
class Layer {
 public:
  explicit Layer(const Point& p)
      : p_(p),
        input_(Matrix::Random(p.input, 4 * p.hidden) * 0.1F),
        recurrent_(Matrix::Random(p.hidden, 4 * p.hidden) * 0.1F),
        bias_(Matrix::Random(1, 4 * p.hidden)),
        gates_(p.steps * p.rows, 4 * p.hidden) {}

  void forward(const Matrix& x, Matrix& y) {
    const Index n = p_.hidden;
    h_.setZero(p_.rows, n);
    c_.setZero(p_.rows, n);
    gates_.noalias() = x * input_;
    gates_.rowwise() += bias_.row(0);
    for (Index t = 0; t < p_.steps; ++t) {
      auto sums = gates_.middleRows(t * p_.rows, p_.rows);
      sums.noalias() += h_ * recurrent_;
      const auto gate = [&](Index g) { return sums.middleCols(g * n, n).array(); };
      c_.array() = sigmoid(gate(1)) * c_.array() + sigmoid(gate(0)) * gate(2).tanh();
      h_.array() = sigmoid(gate(3)) * c_.array().tanh();
      y.middleRows(t * p_.rows, p_.rows) = h_;
    }
  }

 private:
  Point p_;
  Matrix input_, recurrent_, bias_, gates_, h_, c_;
};

void run_forward(benchmark::State& state, const Point& p) {
  Layer layer(p);
  const Matrix x = Matrix::Random(p.steps * p.rows, p.input);
  Matrix y(p.steps * p.rows, p.hidden);
  for (auto _ : state) {
    layer.forward(x, y);
    benchmark::DoNotOptimize(y.data());
  }
}

void add(const Point& p) {
  const std::string name = "BM_Recurrent/LSTM/fwd/B:" + std::to_string(p.rows) + "/T:" + std::to_string(p.steps) +
                           "/I:" + std::to_string(p.input) + "/H:" + std::to_string(p.hidden) + "/threads:1";
  benchmark::RegisterBenchmark(name.c_str(), run_forward, p)->UseRealTime()->Unit(benchmark::kMicrosecond);
}

[[maybe_unused]] const bool registered = [] {
  for (const Index size : {16, 64, 256}) {
    for (const Index rows : {1, 8, 32}) {
      for (const Index steps : {32, 128}) add({rows, steps, size, size});
    }
  }
  for (const Index hidden : {16, 64}) add({30, 29, 12, hidden});
  return true;
}();

}  // namespace
