// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "strata/checkpoint/internal/elements.h"
#include "strata/checkpoint/internal/limits.h"
#include "strata/state/internal/quote.h"
#include "strata/tensor/manipulate.h"

namespace strata::checkpoint::internal {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t version_bytes = 2;

// Dopamine's files name raw types by a list of fields, these by the type alone.
constexpr std::string_view fields_begin = "[('', ";
constexpr std::string_view fields_end = ")]";

bool is_raw_pair(std::string_view literal) {
  return literal.size() == 5 && (literal[1] == '<' || literal[1] == '>') && literal.substr(2, 2) == "V2";
}

std::optional<NumpyDType> parse_descr(std::string_view literal) {
  if (!is_raw_pair(literal)) return parse_numpy_text(literal);
  return parse_numpy_text(fmt::format("{}'{}'{}", fields_begin, literal.substr(1, 3), fields_end));
}

std::string descr_of(DType dtype) {
  std::string text = numpy_text(dtype);
  if (!text.starts_with(fields_begin)) return text;
  return text.substr(fields_begin.size(), text.size() - fields_begin.size() - fields_end.size());
}

// Reads the dictionary of a header: a Python literal of which nothing but this form is taken.
class HeaderText {
 public:
  HeaderText(std::string_view text, std::size_t offset, const Source& source)
      : text_(text), offset_(offset), source_(source) {}

  void parse(NpyHeader& header) {
    expect('{');
    while (!take('}')) {
      read_member(header);
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (position_ != text_.size()) fail("expected nothing behind the dictionary");
    if (!has_descr_ || !has_order_ || !has_shape_) fail("`descr`, `fortran_order` or `shape` is missing");
  }

 private:
  void read_member(NpyHeader& header) {
    const std::string_view quoted = read_string();
    const std::string_view key = quoted.substr(1, quoted.size() - 2);
    bool* const seen = key == "descr"           ? &has_descr_
                       : key == "fortran_order" ? &has_order_
                       : key == "shape"         ? &has_shape_
                                                : nullptr;
    if (seen == nullptr || *seen) fail(fmt::format("the key {} is unknown or stands twice", shortened(key)));
    *seen = true;
    expect(':');
    if (seen == &has_descr_) {
      header.element = read_descr();
    } else if (seen == &has_order_) {
      header.column_major = read_bool();
    } else {
      header.sizes = read_shape();
    }
  }

  NumpyDType read_descr() {
    skip_blanks();
    if (next() == '[') fail("`descr` is a list of fields: tensors hold no records");
    const std::string_view literal = read_string();
    const std::optional<NumpyDType> dtype = parse_descr(literal);
    if (!dtype) fail(fmt::format("`descr` {} is not an element type that a tensor holds", shortened(literal)));
    return *dtype;
  }

  bool read_bool() {
    for (const std::string_view word : {"True", "False"}) {
      skip_blanks();
      if (!text_.substr(position_).starts_with(word)) continue;
      position_ += word.size();
      return word == "True";
    }
    fail("`fortran_order` must be True or False");
  }

  std::vector<Index> read_shape() {
    std::vector<Index> sizes;
    skip_blanks();
    if (next() != '(') fail("`shape` must be a tuple");
    expect('(');
    bool comma = true;
    while (!take(')')) {
      if (!comma) fail("expected a comma in `shape`");
      if (sizes.size() == max_rank_read) fail(fmt::format("`shape` has more than {} axes", max_rank_read));
      sizes.push_back(read_size());
      comma = take(',');
    }
    if (sizes.size() == 1 && !comma) fail("`shape` must be a tuple, not a number in parentheses");
    return sizes;
  }

  Index read_size() {
    skip_blanks();
    Index size = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
    if (error != std::errc() || size < 0) fail("`shape` may hold only integers from 0 to 2^63 - 1");
    position_ += static_cast<std::size_t>(end - begin);
    return size;
  }

  // With its quotes. Escapes have no place in the few texts that are known.
  std::string_view read_string() {
    skip_blanks();
    const char quote = next();
    if (quote != '\'' && quote != '"') fail("expected a text in quotes");
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) fail("expected the end of the text that begins here");
    const std::string_view literal = text_.substr(position_, end + 1 - position_);
    position_ = end + 1;
    return literal;
  }

  void expect(char c) {
    if (!take(c)) fail(fmt::format("expected '{}'", c));
  }

  bool take(char c) {
    skip_blanks();
    if (next() != c) return false;
    ++position_;
    return true;
  }

  void skip_blanks() {
    while (position_ < text_.size() && std::string_view(" \t\n\r").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }

  [[nodiscard]] char next() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  [[noreturn]] void fail(std::string_view what) const {
    source_.fail(offset_ + position_, fmt::format("the header of an .npy file: {}.", what));
  }

  std::string_view text_;
  std::size_t offset_;
  const Source& source_;
  std::size_t position_ = 0;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes, const Source& source) {
  const auto* const characters = reinterpret_cast<const char*>(bytes.data());
  const std::string_view text(characters, bytes.size());
  if (!text.starts_with(magic)) source.fail(0, "expected the bytes \\x93NUMPY that begin an .npy file.");
  const std::size_t version_end = magic.size() + version_bytes;
  if (text.size() < version_end) source.fail(text.size(), "the data end within the header of an .npy file.");
  const auto major = std::to_integer<unsigned>(bytes[magic.size()]);
  if (major < 1 || major > 3 || bytes[magic.size() + 1] != std::byte{0}) {
    source.fail(magic.size(), "the version of the .npy format is not 1.0, 2.0 or 3.0.");
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = version_end + length_bytes;
  if (text.size() < begin) source.fail(text.size(), "the data end within the header of an .npy file.");
  std::size_t length = 0;
  for (std::size_t i = begin; i-- > version_end;) length = length << 8U | std::to_integer<std::size_t>(bytes[i]);
  if (length > max_npy_text || length > text.size() - begin) {
    source.fail(version_end, fmt::format("a header of {} bytes is announced; {} bytes follow, and {} are allowed.",
                                         length, text.size() - begin, max_npy_text));
  }
  NpyHeader header;
  HeaderText(text.substr(begin, length), begin, source).parse(header);
  header.size = begin + length;
  const std::optional<std::uint64_t> element_bytes = bytes_of(header.sizes, header.element.dtype);
  if (!element_bytes) source.fail(begin, "the bytes of an array of this `shape` do not fit 63 bits.");
  header.element_bytes = *element_bytes;
  return header;
}

Tensor npy_tensor(const NpyHeader& header, std::span<const std::byte> elements) {
  std::vector<Index> sizes = header.sizes;
  if (header.column_major) std::reverse(sizes.begin(), sizes.end());
  const Tensor tensor = read_elements(elements, header.element, Shape(sizes));
  return header.column_major ? transpose(tensor) : tensor;
}

std::string npy_header(const Tensor& tensor) {
  std::string shape = fmt::format("{}", fmt::join(tensor.shape().sizes(), ", "));
  if (tensor.rank() == 1) shape += ",";
  std::string text =
      fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ({}), }}", descr_of(tensor.dtype()), shape);
  // NumPy leaves room for the first size to grow in place.
  constexpr std::size_t most_digits = 21;
  if (tensor.rank() > 0) text.append(most_digits - std::to_string(tensor.shape()[0]).size(), ' ');
  constexpr std::size_t alignment = 64;
  const std::size_t before = magic.size() + version_bytes + 2;
  const std::size_t size = (before + text.size() + 1 + alignment - 1) / alignment * alignment;
  text.append(size - before - text.size() - 1, ' ');
  std::string header(magic);
  header += '\x01';
  header += '\x00';
  const std::size_t length = text.size() + 1;
  header += static_cast<char>(length & 0xffU);
  header += static_cast<char>(length >> 8U);
  return header + text + "\n";
}

}  // namespace strata::checkpoint::internal
