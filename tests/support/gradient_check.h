// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "strata/tensor/tensor.h"

namespace strata::support {

// Empty if the gradients that a tape gives for f, a function of float64 tensors with a float64 result of any shape,
// agree with central differences to 1e-6, relative for large ones; else one line that says where they do not. The
// result is summed up with fixed weights that differ from element to element.
[[nodiscard]] std::string gradient_difference(const std::function<Tensor(std::span<const Tensor>)>& f,
                                              std::span<const Tensor> inputs);

// Fails the test if the gradients of f(x), f(x, y), ... with respect to its arguments do not agree with central
// differences:
//
//   expect_gradients_match([](const Tensor& a, const Tensor& b) { return a * b; }, a, b);
//
// Stay away from kinks: the step is 1e-5, relative for large elements.
template <class F, std::same_as<Tensor>... Inputs>
void expect_gradients_match(const F& f, const Inputs&... inputs) {
  const std::array<Tensor, sizeof...(Inputs)> all{inputs...};
  const auto call = [&]<std::size_t... i>(std::span<const Tensor> x, std::index_sequence<i...>) { return f(x[i]...); };
  const auto of_span = [&](std::span<const Tensor> x) { return call(x, std::index_sequence_for<Inputs...>()); };
  EXPECT_EQ(gradient_difference(of_span, all), "");
}

}  // namespace strata::support
