// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "allocation/allocations.h"
#include "strata/nn/activations.h"
#include "strata/nn/batch_norm.h"
#include "strata/nn/conv.h"
#include "strata/nn/dropout.h"
#include "strata/nn/embed.h"
#include "strata/nn/layer_norm.h"
#include "strata/nn/linear.h"
#include "strata/nn/mode.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/module_stream.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/index.h"
#include "strata/tensor/linear_algebra.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"
#include "strata/tensor/scalar.h"

namespace strata::recurrent {
namespace {

constexpr Index rows = 2;
constexpr Index features = 6;

struct Operation {
  std::string name;
  std::function<Tensor(const Tensor&)> apply;  // to [rows, features]

  friend std::ostream& operator<<(std::ostream& out, const Operation& operation) { return out << operation.name; }
};

// A module that does one operation, and carries the sum of the inputs.
struct Doing {
  struct Carry {
    Tensor sum;
    STRATA_FIELDS(sum)
  };

  [[nodiscard]] static Carry initial_carry(const Shape& input) { return {zeros(input)}; }
  [[nodiscard]] Step<Carry> step(const Carry& carry, const Tensor& x) const {
    return {{carry.sum + x}, operation.apply(x).astype(DType::float32)};
  }

  Operation operation;
};

template <class M>
M evaluated(M module) {
  nn::eval(module);
  return module;
}

std::vector<Operation> operations() {
  Rngs rngs(0);
  const Tensor row = ones({features});
  const Tensor column = ones({rows, 1});
  const Tensor matrix = ones({features, features});
  const Tensor batch = ones({rows, features, 3});
  const Tensor positions = arange(3) * 2;
  const Tensor picks = (arange(rows) * 3).reshape({rows, 1});
  return {
      {"copy", [](const Tensor& x) { return x; }},
      {"add", [](const Tensor& x) { return x + x; }},
      {"broadcast_row", [=](const Tensor& x) { return x * row; }},
      {"broadcast_column", [=](const Tensor& x) { return x - column; }},
      {"broadcast_both", [=](const Tensor& x) { return column / (row + x); }},
      {"scalar", [](const Tensor& x) { return 1.0 - x * 2.0; }},
      {"compound",
       [](const Tensor& x) {
         Tensor y = x;
         y += x;
         y *= 0.5;
         return y;
       }},
      {"power", [](const Tensor& x) { return power(x, 2.0); }},
      {"minimum_maximum", [=](const Tensor& x) { return minimum(maximum(x, 0.0), row); }},
      {"clip", [](const Tensor& x) { return clip(x, 0.0, 1.0); }},
      {"functions", [](const Tensor& x) { return exp(sin(sqrt(abs(log1p(square(x)))))); }},
      {"sigmoid_tanh", [](const Tensor& x) { return sigmoid(x) * tanh(x); }},
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"softmax", [](const Tensor& x) { return softmax(x); }},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x); }},
      {"logsumexp", [](const Tensor& x) { return logsumexp(x, -1); }},
      {"gelu", [](const Tensor& x) { return nn::gelu(x); }},
      {"exact_gelu", [](const Tensor& x) { return nn::exact_gelu(x); }},
      {"silu", [](const Tensor& x) { return nn::silu(x); }},
      {"softplus", [](const Tensor& x) { return nn::softplus(x); }},
      {"soft_sign", [](const Tensor& x) { return nn::soft_sign(x); }},
      {"elu", [](const Tensor& x) { return nn::elu(x); }},
      {"selu", [](const Tensor& x) { return nn::selu(x); }},
      {"celu", [](const Tensor& x) { return nn::celu(x); }},
      {"leaky_relu", [](const Tensor& x) { return nn::leaky_relu(x); }},
      {"hard_silu", [](const Tensor& x) { return nn::hard_silu(x); }},
      {"standardize", [](const Tensor& x) { return nn::standardize(x); }},
      {"compare_where", [](const Tensor& x) { return where(logical_and(x > 0.0, x < 1.0), x, 0.5); }},
      {"sum", [](const Tensor& x) { return sum(x); }},
      {"sum_rows", [](const Tensor& x) { return sum(x, 0); }},
      {"sum_kept",
       [](const Tensor& x) {
         return x / sum(x, {0, 1}, {.keep_dims = true});
       }},
      {"mean_variance", [](const Tensor& x) { return mean(x, -1) + variance(x, -1); }},
      {"max_min", [](const Tensor& x) { return max(x, -1) - min(x, -1); }},
      {"prod", [](const Tensor& x) { return prod(x, 1); }},
      {"any_all", [](const Tensor& x) { return logical_or(any(x > 0.0, 1), all(x > 0.0, 1)); }},
      {"argmax", [](const Tensor& x) { return argmax(x, -1); }},
      {"astype", [](const Tensor& x) { return x.astype(DType::float64) + 1.0; }},
      {"half", [](const Tensor& x) { return x.astype(DType::bfloat16) * 2.0; }},
      {"matmul", [=](const Tensor& x) { return matmul(x, matrix); }},
      {"matmul_vector", [=](const Tensor& x) { return matmul(x, row); }},
      {"matmul_batch", [=](const Tensor& x) { return matmul(expand_dims(x, 1), batch); }},
      {"matmul_broadcast",
       [=](const Tensor& x) {
         return matmul(broadcast_to(x, {3, rows, features}), matrix);
       }},
      {"matmul_shared", [=](const Tensor& x) { return matmul(expand_dims(x, 0), batch); }},
      {"matmul_transposed", [=](const Tensor& x) { return matmul(x, transpose(x)); }},
      {"reshape",
       [](const Tensor& x) {
         return x.reshape({features, -1});
       }},
      {"entry", [](const Tensor& x) { return x[1]; }},
      {"slice", [](const Tensor& x) { return x.slice(0, 1); }},
      {"slice_axis", [](const Tensor& x) { return slice_axis(x, -1, 1, 4); }},
      {"transpose", [](const Tensor& x) { return transpose(x); }},
      {"swap_move", [](const Tensor& x) { return move_axis(swap_axes(x, 0, 1), 0, 1); }},
      {"expand_squeeze", [](const Tensor& x) { return squeeze(expand_dims(x, 0)) + squeeze(expand_dims(x, 1), 1); }},
      {"flatten", [](const Tensor& x) { return flatten(x); }},
      {"broadcast_to",
       [](const Tensor& x) {
         return broadcast_to(x, {3, rows, features});
       }},
      {"five_axes",
       [](const Tensor& x) {
         return x.reshape({1, rows, 1, 3, 2}) * 2.0;
       }},
      {"concatenate",
       [](const Tensor& x) {
         return concatenate({x, x}, -1);
       }},
      {"stack",
       [](const Tensor& x) {
         return stack({x, x}, 0);
       }},
      {"flip", [](const Tensor& x) { return flip(x, 1); }},
      {"pad",
       [](const Tensor& x) {
         return pad(x, {{0, 0}, {1, 2}});
       }},
      {"repeat_tile", [](const Tensor& x) { return repeat(tile(x, 2, 0), 2, 1); }},
      {"take", [=](const Tensor& x) { return take(x, positions, 1); }},
      {"take_along_axis", [=](const Tensor& x) { return take_along_axis(x, picks, 1); }},
      {"scatter_add",
       [=](const Tensor& x) {
         return scatter_add(x, positions, ones({rows, 3}), 1);
       }},
      {"one_hot", [](const Tensor& x) { return one_hot(argmax(x, 1), features); }},
      {"create", [](const Tensor& x) { return full({3}, 2.0) + arange(3) + sum(x); }},
      {"linear", [layer = nn::Linear(features, 4, rngs)](const Tensor& x) { return layer(x); }},
      {"layer_norm", [layer = nn::LayerNorm(features, rngs)](const Tensor& x) { return layer(x); }},
      {"batch_norm", [layer = evaluated(nn::BatchNorm(features, rngs))](const Tensor& x) mutable { return layer(x); }},
      {"dropout", [layer = evaluated(nn::Dropout(0.5, rngs))](const Tensor& x) mutable { return layer(x); }},
      {"embed", [layer = nn::Embed(features, 4, rngs)](const Tensor& x) { return layer(argmax(x, 1)); }},
      {"conv",
       [layer = nn::Conv(3, 4, {2}, rngs)](const Tensor& x) {
         return layer(x.reshape({rows, 2, 3}));
       }},
  };
}

class StreamOperations : public testing::TestWithParam<Operation> {};

TEST_P(StreamOperations, AllocateNothing) {
  auto stream = recurrent::stream(Doing{GetParam()}, {rows, features});
  const std::vector<float> x(rows * features, 0.5F);
  std::vector<float> y(static_cast<std::size_t>(stream.output_shape().num_elements()));
  const int before = allocation::count();
  for (int i = 0; i < 5; ++i) stream.step(x, y);
  EXPECT_EQ(allocation::count(), before);
}

INSTANTIATE_TEST_SUITE_P(All, StreamOperations, testing::ValuesIn(operations()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace strata::recurrent
