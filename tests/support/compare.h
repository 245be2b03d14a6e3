// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "strata/tensor/tensor.h"

namespace strata::support {

// How far apart two elements may be: |actual - expected| <= absolute + relative |expected|, or not more than `ulps`
// float32 numbers apart.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  int ulps = 0;
  bool larger = false;  // the larger of both bounds instead of their sum
};

inline constexpr Tolerance exactly{};
constexpr Tolerance within(double absolute) { return {.absolute = absolute}; }

// |actual - expected| / (1 + |expected|) <= bound.
constexpr Tolerance within_scaled(double bound) { return {.absolute = bound, .relative = bound}; }

// |actual - expected| <= bound * max(1, |expected|).
constexpr Tolerance within_larger(double bound) { return {.absolute = bound, .relative = bound, .larger = true}; }

constexpr Tolerance within_ulps(int ulps) { return {.ulps = ulps}; }

// Empty if the tensors agree; else one line that says where they differ most, by how much, and in how many elements.
// Shapes must be equal, element types need not. NaN agrees with NaN alone, an infinity with the same infinity; integers
// of one type are compared without rounding.
//
//   EXPECT_EQ(difference(y, expected, within(1e-6)), "");
[[nodiscard]] std::string difference(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance);

}  // namespace strata::support
