// SPDX-License-Identifier: Apache-2.0
#include "support/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace strata::support {
namespace {

// Float32 numbers in their order, as integers without gaps; both zeros are 0.
std::int64_t ordinal(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits >= 0 ? bits : std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits;
}

bool agree(double actual, double expected, const Tolerance& tolerance) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) && std::isnan(expected);
  if (actual == expected) return true;
  if (std::isinf(actual) || std::isinf(expected)) return false;
  const double scaled = tolerance.relative * std::abs(expected);
  const double bound = tolerance.larger ? std::max(tolerance.absolute, scaled) : tolerance.absolute + scaled;
  if (std::abs(actual - expected) <= bound) return true;
  const std::int64_t apart = ordinal(static_cast<float>(actual)) - ordinal(static_cast<float>(expected));
  return tolerance.ulps > 0 && std::abs(apart) <= tolerance.ulps;
}

// Grows with how wrong an element is; a NaN or infinity that is not expected, or is missing, is the worst.
double badness(double actual, double expected) {
  const double off = std::abs(actual - expected) / (1 + std::abs(expected));
  return std::isfinite(off) ? off : std::numeric_limits<double>::infinity();
}

std::string position_text(Index flat, const Shape& shape) {
  std::string text;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    text = std::to_string(flat % shape[axis]) + (text.empty() ? "" : ", ") + text;
    flat /= shape[axis];
  }
  return "[" + text + "]";
}

template <class T>
std::string integer_difference(const Tensor& actual, const Tensor& expected) {
  const std::span<const T> a = actual.data<T>();
  const std::span<const T> b = expected.data<T>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) {
      return "at " + position_text(static_cast<Index>(i), actual.shape()) + " got " + std::to_string(a[i]) +
             ", expected " + std::to_string(b[i]);
    }
  }
  return {};
}

std::string floating_difference(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  const Tensor doubles_actual = actual.astype(DType::float64);
  const Tensor doubles_expected = expected.astype(DType::float64);
  const std::span<const double> a = doubles_actual.data<double>();
  const std::span<const double> b = doubles_expected.data<double>();
  std::size_t count = 0;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (agree(a[i], b[i], tolerance)) continue;
    if (count == 0 || badness(a[i], b[i]) > badness(a[worst], b[worst])) worst = i;
    ++count;
  }
  if (count == 0) return {};
  std::ostringstream text;
  text.precision(9);
  text << "at " << position_text(static_cast<Index>(worst), actual.shape()) << " got " << a[worst] << ", expected "
       << b[worst] << ", off by " << std::abs(a[worst] - b[worst]) << "; " << count << " of " << a.size() << " differ";
  return text.str();
}

}  // namespace

std::string difference(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  if (actual.shape() != expected.shape()) {
    return "got shape " + to_string(actual.shape()) + ", expected " + to_string(expected.shape());
  }
  if (actual.dtype() == expected.dtype() && is_integer(actual.dtype()) && tolerance.absolute == 0 &&
      tolerance.relative == 0) {
    return dispatch(actual.dtype(), [&]<class T>(T) -> std::string {
      if constexpr (std::is_integral_v<T>) {
        return integer_difference<T>(actual, expected);
      } else {
        return {};
      }
    });
  }
  return floating_difference(actual, expected, tolerance);
}

}  // namespace strata::support
