// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "strata/tensor/dtype.h"

namespace strata {

// A number that takes on the element type of the tensor it meets, as Python's numbers do in NumPy 2: `x * 2` and
// `x * 0.5` keep a float32 tensor float32. Only where the tensor's type is of a lower kind (bool, integer, floating)
// does the number decide: an integer makes a bool tensor int64, a floating number makes bool and integer tensors
// float64 (JAX: its default types, int32 and float32).
class Scalar {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> Scalar(T value) : value_(widest(value)) {}

  // The element type of what is computed from this number and a tensor of the given type.
  [[nodiscard]] DType promote_with(DType dtype) const;

  // False for an integer outside of the range of an integer element type.
  [[nodiscard]] bool fits(DType dtype) const;

  friend std::string to_string(const Scalar& scalar);

  template <Element T>
  [[nodiscard]] T as() const {
    return std::visit([](auto value) { return convert_element<T>(value); }, value_);
  }

 private:
  template <class T>
  static auto widest(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      return value;
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(value);
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<std::int64_t>(value);
    } else {
      return static_cast<std::uint64_t>(value);
    }
  }

  std::variant<bool, std::int64_t, std::uint64_t, double> value_;
};

}  // namespace strata
