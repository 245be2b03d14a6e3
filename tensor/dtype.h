// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string_view>
#include <type_traits>

namespace strata {

// Element types. Two-byte floats are for storage and exchange: operations on them compute in float32 and round once.
enum class DType : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
};

inline constexpr std::array<DType, 13> all_dtypes{
    DType::boolean, DType::int8,   DType::int16,   DType::int32,    DType::int64,   DType::uint8,  DType::uint16,
    DType::uint32,  DType::uint64, DType::float16, DType::bfloat16, DType::float32, DType::float64};

// IEEE binary16. Conversion from float rounds to nearest even.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value);
  explicit operator float() const;
  bool operator==(const Float16&) const = default;  // of the bits
};

// The upper half of a float32. Conversion from float rounds to nearest even.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
  bool operator==(const BFloat16&) const = default;  // of the bits
};

namespace internal {

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::int8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::int16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::uint16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::uint32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType value = DType::uint64;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::float16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};

}  // namespace internal

// The C++ types that tensors hold.
template <class T>
concept Element = requires {
  internal::DTypeOf<T>::value;
};

template <Element T>
inline constexpr DType dtype_of = internal::DTypeOf<T>::value;

// "float32", "bool", ... as in NumPy.
std::string_view name(DType dtype);
std::ostream& operator<<(std::ostream& out, DType dtype);

// Throws ValueError if no element type has this name.
DType dtype_from_name(std::string_view name);

[[nodiscard]] int size_in_bytes(DType dtype);
[[nodiscard]] bool is_floating(DType dtype);
[[nodiscard]] bool is_two_byte_float(DType dtype);  // float16 or bfloat16
[[nodiscard]] bool is_integer(DType dtype);         // signed or unsigned; bool is neither integer nor floating
[[nodiscard]] bool is_signed_integer(DType dtype);

// The type in which operations on elements of this type compute: float32 for two-byte floats, otherwise the type itself.
[[nodiscard]] DType computing_dtype(DType dtype);

// The type in which a and b are combined, by NumPy's rules: the smallest that holds both. Integers of 32 bits or more
// and a float give float64 (JAX: float32); 64-bit integers of both signs give float64 (JAX: floating default).
// bfloat16, which NumPy lacks, follows float16; the two together give float32.
[[nodiscard]] DType promote(DType a, DType b);

// One element in another type: to bool by "is not zero", to integers towards zero; a float outside the integer's range
// gives the nearest end of it, NaN gives 0.
template <Element T, Element S>
constexpr T convert_element(S value) {
  constexpr bool from_half = std::is_same_v<S, Float16> || std::is_same_v<S, BFloat16>;
  constexpr bool to_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
  if constexpr (std::is_same_v<T, S>) {
    return value;
  } else if constexpr (from_half) {
    return convert_element<T>(static_cast<float>(value));
  } else if constexpr (to_half) {
    return T(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != S{};
  } else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (value != value) return T{};
    if (value <= static_cast<S>(Limits::min())) return Limits::min();
    if (value >= static_cast<S>(Limits::max())) return Limits::max();
    return static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

// Calls f with a value-initialised element of the C++ type of `dtype`: dispatch(dtype, [&]<class T>(T) { ... }).
template <class F>
decltype(auto) dispatch(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
      return f(bool{});
    case DType::int8:
      return f(std::int8_t{});
    case DType::int16:
      return f(std::int16_t{});
    case DType::int32:
      return f(std::int32_t{});
    case DType::int64:
      return f(std::int64_t{});
    case DType::uint8:
      return f(std::uint8_t{});
    case DType::uint16:
      return f(std::uint16_t{});
    case DType::uint32:
      return f(std::uint32_t{});
    case DType::uint64:
      return f(std::uint64_t{});
    case DType::float16:
      return f(Float16{});
    case DType::bfloat16:
      return f(BFloat16{});
    case DType::float32:
      return f(float{});
    case DType::float64:
      break;
  }
  return f(double{});
}

}  // namespace strata
