// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/internal/elementwise.h"

namespace strata::internal {

// The gradient of x, given that of y and, as `saved`, either x or y.
using UnaryGradient = Tensor (*)(const Tensor& dy, const Tensor& saved);

enum class Saves { input, output };

// A differentiable elementwise function. `real` ones are functions of real numbers: integers and bool are converted to
// float64 first. Throws DTypeError that starts with `[name]` if the operation is not defined for the element type.
[[nodiscard]] Tensor unary(Unary operation, const Tensor& x, const char* name, Saves saves, UnaryGradient gradient);
[[nodiscard]] Tensor real_unary(Unary operation, const Tensor& x, const char* name, Saves saves,
                                UnaryGradient gradient);

}  // namespace strata::internal
