// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/cells/cell_checks.h"

#include <algorithm>
#include <limits>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::recurrent::internal {
namespace {

// "3 spatial axes, ", as a part of a shape.
std::string space(int axes) {
  if (axes == 0) return "";
  return std::to_string(axes) + (axes == 1 ? " spatial axis, " : " spatial axes, ");
}

}  // namespace

Index gate_columns(const char* cell, Index in_features, Index hidden_features, Index gates) {
  const auto complain = [&](const char* what) {
    throw ShapeError("[" + std::string(cell) + "] sizes must be " + what + ": in_features " +
                     std::to_string(in_features) + ", hidden_features " + std::to_string(hidden_features) + ".");
  };
  if (in_features < 1 || hidden_features < 1) complain("positive");
  constexpr Index most = std::numeric_limits<Index>::max() / 8;  // numbers whose bytes can be counted
  if (hidden_features > most / gates || std::max(in_features, hidden_features) > most / gates / hidden_features) {
    complain("smaller");
  }
  return gates * hidden_features;
}

void check_functions(const char* cell, std::initializer_list<Activation> functions) {
  if (std::find(functions.begin(), functions.end(), nullptr) == functions.end()) return;
  throw ValueError("[" + std::string(cell) + "] a function is null. Leave the option out for the standard one.");
}

void check_input(const char* cell, const Tensor& x, Index in_features, int spatial_axes) {
  if (x.rank() > spatial_axes && x.size(-1) == in_features) return;
  throw ShapeError("[" + std::string(cell) + "] x is " + describe(x) + ", expected [*batch, " + space(spatial_axes) +
                   std::to_string(in_features) + "].");
}

void check_carry(const char* cell, const char* part, const Tensor& value, const Tensor& x, Index hidden) {
  const Shape expected = carry_shape(cell, x.shape(), hidden);
  if (value.shape() == expected && is_floating(value.dtype())) return;
  const std::string start = "[" + std::string(cell) + "] part `" + part + "` of the carry is " + describe(value);
  if (value.shape() != expected) {
    throw ShapeError(start + ", expected shape " + to_string(expected) + " for x of shape " + to_string(x.shape()) +
                     ".");
  }
  throw DTypeError(start + ", expected floating numbers.");
}

Shape carry_shape(const char* cell, const Shape& input, Index hidden, int spatial_axes) {
  if (input.rank() <= spatial_axes) {
    throw ShapeError("[" + std::string(cell) + "] the input shape " + to_string(input) + " lacks axes, expected [" +
                     "*batch, " + space(spatial_axes) + "features].");
  }
  return input.axes(0, input.rank() - 1).append(Shape{hidden});
}

HiddenCarry zero_hidden_carry(const char* cell, const Shape& input, const Tensor& recurrent_kernel) {
  return {.h = zeros(carry_shape(cell, input, recurrent_kernel.size(0)), recurrent_kernel.dtype())};
}

}  // namespace strata::recurrent::internal
