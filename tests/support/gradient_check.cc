// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "strata/tensor/gradient.h"
#include "support/compare.h"

namespace strata::support {
namespace {

using Function = std::function<Tensor(std::span<const Tensor>)>;

constexpr double step = 1e-5;       // truncation about step^2, rounding about 1e-16 / step
constexpr double tolerance = 1e-6;  // a wrong formula is off by far more

Tensor weights_like(const Tensor& y) {
  Tensor weights = Tensor::uninitialized(y.shape(), DType::float64);
  double position = 0;
  for (double& weight : weights.mutable_data<double>()) weight = std::cos(position++) + 0.1;
  return weights;
}

double weighted_sum(const Tensor& y, const Tensor& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < y.data<double>().size(); ++i) sum += y.data<double>()[i] * weights.data<double>()[i];
  return sum;
}

Tensor central_differences(const Function& f, std::span<const Tensor> inputs, std::size_t which,
                           const Tensor& weights) {
  std::vector<Tensor> moved(inputs.begin(), inputs.end());
  Tensor result = Tensor::uninitialized(inputs[which].shape(), DType::float64);
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.size()); ++i) {
    const double x = inputs[which].data<double>()[i];
    const double h = step * std::max(1.0, std::abs(x));
    moved[which].mutable_data<double>()[i] = x + h;
    const double above = weighted_sum(f(moved), weights);
    moved[which].mutable_data<double>()[i] = x - h;
    const double below = weighted_sum(f(moved), weights);
    moved[which].mutable_data<double>()[i] = x;
    result.mutable_data<double>()[i] = (above - below) / ((x + h) - (x - h));
  }
  return result;
}

}  // namespace

std::string gradient_difference(const Function& f, std::span<const Tensor> inputs) {
  GradientTape tape;
  std::vector<Tensor> watched;
  for (const Tensor& input : inputs) watched.push_back(tape.watch(input));
  const Tensor y = f(watched);
  if (!y.is_tracked()) return "the result is not tracked: " + describe(y);
  const Tensor weights = weights_like(y);
  const std::vector<Tensor> gradients =
      tape.gradient(std::span<const Tensor>(&y, 1), std::span<const Tensor>(&weights, 1), watched);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor expected = central_differences(f, inputs, i, weights);
    const std::string text = difference(gradients[i], expected, within_scaled(tolerance));
    if (!text.empty()) return "gradient of input " + std::to_string(i) + ": " + text;
  }
  return "";
}

}  // namespace strata::support
