// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/index.h"
#include "support/compare.h"

// Random scans of the standard cells, for property tests.
namespace strata::recurrent {

// Bounds on |a - b| / (1 + |b|) between two ways to sum up: those of the golden data for values; gradients of weights
// are sums over all rows and steps, of larger terms than their result.
inline double value_bound(DType dtype) { return dtype == DType::float32 ? 2e-6 : 1e-12; }
inline double gradient_bound(DType dtype) { return dtype == DType::float32 ? 5e-5 : 1e-11; }

struct Problem {
  DType dtype;
  Shape batch;
  Index time;
  Index in;
  Index hidden;
  bool time_major;
  bool reverse;
  bool keep_order;
  PaddingOutput padding_output;
  std::optional<Tensor> lengths;
  bool given_carry;
  std::optional<Tensor> resets = {};
  bool given_reset_carry = false;

  [[nodiscard]] Tensor x() const {
    const Tensor batch_major = random::normal(random::key(11), batch.append(Shape{time}).append(Shape{in}), dtype);
    return time_major ? move_axis(batch_major, batch.rank(), 0) : batch_major;
  }

  template <class C>
  [[nodiscard]] ScanOptions<typename C::Carry> options(const C& cell) const {
    ScanOptions<typename C::Carry> result{.seq_lengths = lengths,
                                          .time_major = time_major,
                                          .reverse = reverse,
                                          .keep_order = keep_order,
                                          .padding_output = padding_output};
    result.resets = resets;
    std::int64_t seed = 20;
    const auto drawn = [&] {
      auto carry = cell.initial_carry(batch.append(Shape{in}));
      const auto draw = [&](const std::string&, Tensor& part) {
        part = random::normal(random::key(++seed), part.shape(), dtype) * 0.5;
      };
      internal::for_each_tensor(draw, "", carry);
      return carry;
    };
    if (given_carry) result.initial_carry = drawn();
    if (given_reset_carry) result.reset_carry = drawn();
    return result;
  }
};

inline Problem any_problem() {
  const auto size = [](Index low, Index high) { return *rc::gen::inRange<Index>(low, high); };
  const auto flag = [] { return *rc::gen::arbitrary<bool>(); };
  Problem problem{
      .dtype = flag() ? DType::float32 : DType::float64,
      .batch = {},
      .time = size(0, 7),
      .in = size(1, 6),
      .hidden = size(1, 19),
      .time_major = flag(),
      .reverse = flag(),
      .keep_order = flag(),
      .padding_output = *rc::gen::element(PaddingOutput::keep, PaddingOutput::zero, PaddingOutput::repeat_last),
      .lengths = {},
      .given_carry = flag()};
  const Index axes = size(0, 3);
  for (Index i = 0; i < axes; ++i) problem.batch = problem.batch.append(Shape{size(0, 5)});
  if (flag()) {
    const auto count = static_cast<std::size_t>(problem.batch.num_elements());
    const auto numbers = *rc::gen::container<std::vector<Index>>(count, rc::gen::inRange<Index>(0, problem.time + 1));
    problem.lengths = tensor(numbers, problem.batch);
  }
  return problem;
}

// Calls f with a cell for each of the standard kinds.
template <class F>
void for_each_cell(Index in, Index hidden, DType dtype, const F& f) {
  Rngs rngs(3);
  const nn::Initializer bias = nn::initializers::normal(0.3);
  f(LSTMCell(in, hidden, rngs, {.bias_init = bias, .param_dtype = dtype}));
  f(OptimizedLSTMCell(in, hidden, rngs, {.bias_init = bias, .param_dtype = dtype}));
  f(GRUCell(in, hidden, rngs, {.bias_init = bias, .param_dtype = dtype}));
  f(GRUCell(in, hidden, rngs, {.recurrent_bias = true, .bias_init = bias, .param_dtype = dtype}));
  f(SimpleCell(in, hidden, rngs, {.bias_init = bias, .param_dtype = dtype}));
  f(SimpleCell(in, hidden, rngs, {.activation = relu, .bias_init = bias, .param_dtype = dtype}));
  f(SimpleCell(in, hidden, rngs, {.residual = true, .bias_init = bias, .param_dtype = dtype}));
}

// A problem of one batch axis, for properties of rows and steps.
inline Problem any_batch() {
  Problem problem = any_problem();
  problem.time_major = false;
  problem.batch = {*rc::gen::inRange<Index>(1, 7)};
  const auto numbers = *rc::gen::container<std::vector<Index>>(static_cast<std::size_t>(problem.batch[0]),
                                                               rc::gen::inRange<Index>(0, problem.time + 1));
  problem.lengths = tensor(numbers, problem.batch);
  return problem;
}

// The problem with episodes: a third of all steps are flagged.
inline Problem with_resets(Problem problem) {
  const Shape places =
      problem.time_major ? Shape{problem.time}.append(problem.batch) : problem.batch.append(Shape{problem.time});
  const auto seed = *rc::gen::inRange<std::int64_t>(0, 1000);
  problem.resets = random::uniform(random::key(seed), places) < 0.33;
  problem.given_reset_carry = *rc::gen::arbitrary<bool>();
  return problem;
}

template <class Carry>
Carry take_rows(const Carry& carry, const Tensor& rows) {
  Carry result = carry;
  internal::for_each_tensor([&](const std::string&, Tensor& part) { part = take(part, rows, 0); }, "", result);
  return result;
}

// Throws a failure of the property unless results and gradients agree, exactly or within the bounds.
inline void assert_agreement(const NamedTensors& a, const NamedTensors& b, std::optional<DType> within = {}) {
  RC_ASSERT(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    support::Tolerance tolerance = support::exactly;
    if (within) {
      tolerance = support::within_scaled(a[i].name.starts_with("d ") ? gradient_bound(*within) : value_bound(*within));
    }
    const std::string found = support::difference(a[i].value, b[i].value, tolerance);
    if (!found.empty()) RC_FAIL(a[i].name + ": " + found);
  }
}

template <class Carry>
void assert_same(const ScanResult<Carry>& a, const ScanResult<Carry>& b) {
  RC_ASSERT(identical(a.y, b.y));
  internal::for_each_tensor([](const std::string&, const Tensor& p, const Tensor& q) { RC_ASSERT(identical(p, q)); },
                            "", a.carry, b.carry);
}

}  // namespace strata::recurrent
