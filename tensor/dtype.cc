// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/dtype.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <ostream>
#include <string>

#include "strata/tensor/error.h"

namespace strata {
namespace {

enum class Family { boolean, signed_integer, unsigned_integer, floating };

struct Facts {
  DType dtype;
  std::string_view name;
  int bytes;
  Family family;
};

constexpr std::array<Facts, 13> all_facts{{
    {DType::boolean, "bool", 1, Family::boolean},
    {DType::int8, "int8", 1, Family::signed_integer},
    {DType::int16, "int16", 2, Family::signed_integer},
    {DType::int32, "int32", 4, Family::signed_integer},
    {DType::int64, "int64", 8, Family::signed_integer},
    {DType::uint8, "uint8", 1, Family::unsigned_integer},
    {DType::uint16, "uint16", 2, Family::unsigned_integer},
    {DType::uint32, "uint32", 4, Family::unsigned_integer},
    {DType::uint64, "uint64", 8, Family::unsigned_integer},
    {DType::float16, "float16", 2, Family::floating},
    {DType::bfloat16, "bfloat16", 2, Family::floating},
    {DType::float32, "float32", 4, Family::floating},
    {DType::float64, "float64", 8, Family::floating},
}};

const Facts& facts(DType dtype) { return all_facts[static_cast<std::size_t>(dtype)]; }

DType find(Family family, int bytes) {
  return std::find_if(all_facts.begin(), all_facts.end(),
                      [&](const Facts& f) { return f.family == family && f.bytes == bytes; })
      ->dtype;
}

// A float of n bytes holds integers of up to n / 2 bytes; wider ones take the next wider float.
DType promote_integer_with_float(DType integer, DType floating) {
  const int wanted = std::min(8, 2 * facts(integer).bytes);
  if (facts(floating).bytes >= wanted) return floating;
  return wanted == 4 ? DType::float32 : DType::float64;
}

DType promote_mixed_signs(DType signed_type, DType unsigned_type) {
  if (facts(signed_type).bytes > facts(unsigned_type).bytes) return signed_type;
  const int bytes = 2 * facts(unsigned_type).bytes;
  return bytes > 8 ? DType::float64 : find(Family::signed_integer, bytes);
}

}  // namespace

Float16::Float16(float value) : bits(Eigen::half(value).x) {}
Float16::operator float() const { return Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits)); }

BFloat16::BFloat16(float value) : bits(Eigen::bfloat16(value).value) {}
BFloat16::operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::string_view name(DType dtype) { return facts(dtype).name; }

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }

DType dtype_from_name(std::string_view name) {
  for (const Facts& f : all_facts) {
    if (f.name == name) return f.dtype;
  }
  throw ValueError("[dtype_from_name] there is no element type \"" + std::string(name) + "\".");
}

int size_in_bytes(DType dtype) { return facts(dtype).bytes; }
bool is_floating(DType dtype) { return facts(dtype).family == Family::floating; }
bool is_two_byte_float(DType dtype) { return is_floating(dtype) && size_in_bytes(dtype) == 2; }
bool is_signed_integer(DType dtype) { return facts(dtype).family == Family::signed_integer; }
bool is_integer(DType dtype) { return is_signed_integer(dtype) || facts(dtype).family == Family::unsigned_integer; }

DType computing_dtype(DType dtype) { return is_two_byte_float(dtype) ? DType::float32 : dtype; }

DType promote(DType a, DType b) {
  if (a == b || b == DType::boolean) return a;
  if (a == DType::boolean) return b;
  if (is_floating(a) && is_floating(b)) {
    if (is_two_byte_float(a) && is_two_byte_float(b)) return DType::float32;
    return facts(a).bytes > facts(b).bytes ? a : b;
  }
  if (is_floating(a)) return promote_integer_with_float(b, a);
  if (is_floating(b)) return promote_integer_with_float(a, b);
  if (is_signed_integer(a) == is_signed_integer(b)) return facts(a).bytes > facts(b).bytes ? a : b;
  return is_signed_integer(a) ? promote_mixed_signs(a, b) : promote_mixed_signs(b, a);
}

}  // namespace strata
