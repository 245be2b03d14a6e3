// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/nn/batch_norm.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear.h"
#include "strata/nn/split.h"
#include "strata/recurrent/scan.h"
#include "strata/state/fields.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/random.h"
#include "strata/tensor/reduce.h"

// Cells of users' own, and what tests of sequences share.
namespace strata::recurrent {

inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// h' = x + h, y = h': the linear cell of the cases about lengths and order.
struct RunningSum {
  struct Carry {
    Tensor sum;
    STRATA_FIELDS(sum)
  };
  static constexpr int num_feature_axes = 1;

  Step<Carry> operator()(const Carry& carry, const Tensor& x) const {
    Tensor sum = carry.sum + x;
    return {{sum}, sum};
  }
  Carry initial_carry(const Shape& input) const { return {zeros(input)}; }

  STRATA_FIELDS()
};

// The carry of one cell within that of another; y is wider than x. Without a carry of its own to begin with.
struct NestedCell {
  struct Carry {
    RunningSum::Carry total;
    Tensor last;
    STRATA_FIELDS(total, last)
  };
  static constexpr int num_feature_axes = 1;

  Step<Carry> operator()(const Carry& carry, const Tensor& x) const {
    auto [total, y] = RunningSum()(carry.total, x);
    return {{total, x}, concatenate({y, carry.last}, -1)};
  }

  STRATA_FIELDS()
};

// Batch statistics and dropout inside of a cell, and parameters held by a pointer.
struct StatefulCell {
  using Carry = RunningSum::Carry;
  static constexpr int num_feature_axes = 1;

  std::shared_ptr<nn::Linear> map;
  nn::BatchNorm norm;
  nn::Dropout dropout;

  StatefulCell(Index features, Rngs& rngs)
      : map(std::make_shared<nn::Linear>(features, features, rngs)),
        norm(features, rngs, {.momentum = 0.5}),
        dropout(0.5, rngs) {}

  Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    Tensor h = strata::tanh(dropout(norm((*map)(x))) + carry.sum);
    return {{h}, h};
  }
  Carry initial_carry(const Shape& input) const { return {zeros(input)}; }

  STRATA_FIELDS(map, norm, dropout)
};

// Two feature axes, and an output of one number a row.
struct RowSum {
  using Carry = RunningSum::Carry;
  static constexpr int num_feature_axes = 2;

  Step<Carry> operator()(const Carry& carry, const Tensor& x) const {
    Tensor total = carry.sum + sum(x, {-2, -1});
    return {{total}, total};
  }
  Carry initial_carry(const Shape& input) const { return {zeros(input.axes(0, input.rank() - 2))}; }

  STRATA_FIELDS()
};

// Three sequences of one feature, [3, 4, 1].
inline Tensor three_rows() { return tensor<float>({1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 1}, {3, 4, 1}); }

// The elements of a tensor, in a flat list.
inline std::vector<double> elements(const Tensor& x) {
  const Tensor doubles = x.astype(DType::float64);
  const auto data = doubles.data<double>();
  return {data.begin(), data.end()};
}

// x [rows, time, features] with NaN behind each row's length.
inline Tensor with_padding(const Tensor& x, const std::vector<Index>& lengths, double value) {
  Tensor result = x;
  dispatch(x.dtype(), [&]<class T>(T) {
    const auto data = result.mutable_data<T>();
    const Index time = x.size(1);
    const Index features = x.size(2);
    for (Index row = 0; row < x.size(0); ++row) {
      for (Index i = lengths[static_cast<std::size_t>(row)] * features; i < time * features; ++i) {
        data[static_cast<std::size_t>(row * time * features + i)] = convert_element<T>(value);
      }
    }
  });
  return result;
}

// Results of a scan, and the gradients of sum(outputs * cotangents), by name: "y", "carry/h", "d x", "d ii/kernel".
struct NamedTensor {
  std::string name;
  Tensor value;
};
using NamedTensors = std::vector<NamedTensor>;

// `scan` is called with the cell, x and the options. The cotangents are random, those of y times `y_weights`.
template <class C, class Scan>
NamedTensors scan_with_gradients(C cell, const Tensor& x, ScanOptions<typename C::Carry> options, const Scan& scan,
                                 const std::optional<Tensor>& y_weights = {}) {
  GradientTape tape;
  NamedTensors results;
  std::vector<std::string> names;
  std::vector<Tensor> sources;
  const auto watch = [&](const std::string& name, const Tensor& value) {
    names.push_back(name);
    sources.push_back(tape.watch(value));
    return sources.back();
  };
  State state = nn::state(cell);
  for (const auto& [path, variable] : nn::state(cell)) {
    if (&variable.kind() == &kind_of<Param>()) state.at(path).reset(watch("d " + to_string(path), variable.value()));
  }
  nn::update(cell, state);
  const auto watch_part = [&](const std::string& name, Tensor& value) { value = watch("d " + name, value); };
  if (options.initial_carry) internal::for_each_tensor(watch_part, "carry", *options.initial_carry);
  if (options.reset_carry) internal::for_each_tensor(watch_part, "reset", *options.reset_carry);
  auto [carry, y] = scan(cell, watch("d x", x), options);

  std::vector<Tensor> outputs;
  std::vector<Tensor> cotangents;
  const auto add = [&](const std::string& name, const Tensor& value) {
    results.push_back({name, stop_gradient(value)});
    if (!value.is_tracked()) return;
    outputs.push_back(value);
    const auto key = random::fold_in(random::key(7), static_cast<std::uint32_t>(results.size()));
    cotangents.push_back(random::normal(key, value.shape(), value.dtype()));
    if (name == "y" && y_weights) cotangents.back() = cotangents.back() * y_weights->astype(value.dtype());
  };
  add("y", y);
  internal::for_each_tensor([&](const std::string& name, const Tensor& value) { add("carry/" + name, value); }, "",
                            carry);
  const std::vector<Tensor> gradients = tape.gradient(outputs, cotangents, sources);
  for (std::size_t i = 0; i < names.size(); ++i) results.push_back({names[i], gradients[i]});
  return results;
}

}  // namespace strata::recurrent
