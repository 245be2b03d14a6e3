// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/numpy_dtype.h"

#include <bit>

namespace strata::checkpoint::internal {
namespace {

constexpr char native_mark = std::endian::native == std::endian::little ? '<' : '>';
constexpr char foreign_mark = native_mark == '<' ? '>' : '<';

// "f4"
std::string letter_and_size(DType dtype) {
  const char letter = is_floating(dtype) ? 'f' : is_signed_integer(dtype) ? 'i' : is_integer(dtype) ? 'u' : 'b';
  return letter + std::to_string(size_in_bytes(dtype));
}

std::string bfloat16_text(char mark) { return std::string("[('', '") + mark + "V2')]"; }

std::string_view without_blanks_around(std::string_view text) {
  constexpr std::string_view blanks = " \t\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

std::string numpy_text(DType dtype) {
  if (dtype == DType::bfloat16) return bfloat16_text(native_mark);
  const char mark = size_in_bytes(dtype) == 1 ? '|' : native_mark;
  return std::string("'") + mark + letter_and_size(dtype) + "'";
}

std::optional<NumpyDType> parse_numpy_text(std::string_view text) {
  text = without_blanks_around(text);
  if (text == bfloat16_text(native_mark)) return NumpyDType{.dtype = DType::bfloat16, .swapped = false};
  if (text == bfloat16_text(foreign_mark)) return NumpyDType{.dtype = DType::bfloat16, .swapped = true};
  if (text.size() < 2 || (text.front() != '\'' && text.front() != '"') || text.back() != text.front()) return {};
  text = text.substr(1, text.size() - 2);
  const bool marked = !text.empty() && std::string_view("<>=|").find(text.front()) != std::string_view::npos;
  const bool foreign = marked && text.front() == foreign_mark;
  if (marked) text.remove_prefix(1);
  for (const DType dtype : all_dtypes) {
    if (dtype != DType::bfloat16 && text == letter_and_size(dtype)) {
      return NumpyDType{.dtype = dtype, .swapped = foreign && size_in_bytes(dtype) > 1};
    }
  }
  return {};
}

}  // namespace strata::checkpoint::internal
