// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/scalar.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace strata {

DType Scalar::promote_with(DType dtype) const {
  if (is_floating(dtype) || std::holds_alternative<bool>(value_)) return dtype;
  if (std::holds_alternative<double>(value_)) return DType::float64;
  return dtype == DType::boolean ? DType::int64 : dtype;
}

bool Scalar::fits(DType dtype) const {
  if (!is_integer(dtype)) return true;
  return dispatch(dtype, [this]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (const auto* value = std::get_if<std::int64_t>(&value_)) return std::in_range<T>(*value);
      if (const auto* value = std::get_if<std::uint64_t>(&value_)) return std::in_range<T>(*value);
    }
    return true;
  });
}

std::string to_string(const Scalar& scalar) {
  // The sign of a NaN says nothing.
  if (const auto* value = std::get_if<double>(&scalar.value_); value != nullptr && std::isnan(*value)) return "nan";
  return std::visit([](auto value) { return fmt::format("{}", value); }, scalar.value_);
}

}  // namespace strata
