// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "recurrent/plain_sequence.h"
#include "strata/recurrent/internal/kernels/sequence.h"

// The fused kernels on the values of a test.
namespace strata::recurrent::internal {

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
    forward(weights, k.shape(), {memory.x.data(), k.input},
            {rows_of<const T>(memory.h, k.hidden), rows_of<const T>(memory.c, k.hidden)}, {y.data(), k.hidden},
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
  Gradients<T> to{{result.x.data(), k.input},
                  {rows_of<T>(result.h, k.hidden), rows_of<T>(result.c, k.hidden)},
                  gate_arrays<T>(k, result),
                  add};
  backward(run.weights, run.tape, {memory.x.data(), k.input},
           {{dy.data(), k.hidden}, {rows_of<const T>(dh, k.hidden), rows_of<const T>(dc, k.hidden)}}, to);
  return result.values(k);
}

}  // namespace strata::recurrent::internal
