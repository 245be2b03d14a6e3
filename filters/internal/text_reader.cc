// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/text_reader.h"

#include <charconv>

#include "strata/filters/internal/caret.h"
#include "strata/filters/internal/vocabulary.h"
#include "strata/filters/parse.h"
#include "strata/state/internal/utf8.h"

namespace strata::internal {
namespace {

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void TextReader::skip_blanks() noexcept {
  while (position_ < text_.size() && std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
    ++position_;
  }
}

bool TextReader::at_end() noexcept {
  skip_blanks();
  return position_ == text_.size();
}

bool TextReader::accept(char sign) noexcept {
  if (at_end() || text_[position_] != sign) return false;
  ++position_;
  return true;
}

Index TextReader::integer() {
  skip_blanks();
  const std::string_view whole = left();
  std::size_t length = whole.starts_with('-') ? 1 : 0;
  while (length < whole.size() && is_digit(whole[length])) ++length;
  if (length == 0 || !is_digit(whole[length - 1])) fail_here("expected an integer");
  Index value = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + length, value);
  if (error != std::errc()) fail(position_, length, "the integer does not fit 64 bits", "");
  position_ += length;
  return value;
}

char TextReader::read_character() noexcept {
  const char c = text_[position_++];
  if (c != '\\' || position_ == text_.size()) return c;
  const char next = text_[position_];
  const std::string_view plain = "'\"\\";
  const std::string_view named = "ntr";
  if (plain.find(next) != std::string_view::npos) {
    ++position_;
    return next;
  }
  if (const std::size_t which = named.find(next); which != std::string_view::npos) {
    ++position_;
    return "\n\t\r"[which];
  }
  if (next == 'x' && position_ + 2 < text_.size()) {
    const int high = hex_digit(text_[position_ + 1]);
    const int low = hex_digit(text_[position_ + 2]);
    if (high >= 0 && low >= 0) {
      position_ += 3;
      return static_cast<char>(high * 16 + low);
    }
  }
  return c;
}

std::string TextReader::read_text() {
  skip_blanks();
  const std::size_t begin = position_;
  const char quote = at_end() ? '\0' : text_[position_];
  if (quote != '\'' && quote != '"') fail_here("expected a text in quotes");
  ++position_;
  std::string value;
  while (position_ < text_.size()) {
    if (text_[position_] == quote) {
      ++position_;
      return value;
    }
    value += read_character();
  }
  fail(begin, 1, "the closing quote is missing", "");
}

std::size_t TextReader::byte_of_text(std::size_t place, std::size_t offset) const noexcept {
  TextReader reader(text_);
  reader.position_ = place + 1;  // behind the quote
  while (offset-- > 0 && reader.position_ < text_.size()) reader.read_character();
  return reader.position_;
}

void TextReader::fail(std::size_t place, std::size_t length, const std::string& what, const std::string& hint) const {
  const std::size_t column = column_of(text_, place);
  throw FilterTextError("[parse_filter] " + what + ", at column " + std::to_string(column) + ":\n" +
                            point_at(text_, place, length) + (hint.empty() ? "" : "\n" + hint),
                        column);
}

void TextReader::fail_here(const std::string& what) {
  if (at_end()) fail(position_, 1, what + ", got the end of the text", "");
  const std::string_view whole = left();
  std::string hint;
  if (whole.starts_with("&") || whole.starts_with("|"))
    hint = "And is written `&`, or `|`, each with a filter on both sides.";
  if (whole.starts_with("=")) hint = "Equal is written `==`.";
  std::size_t length = leading_word(whole).size();
  if (length == 0) next_character(whole, length);
  const std::string got(whole.substr(0, std::min<std::size_t>(length, 64)));
  const bool shows = static_cast<unsigned char>(got[0]) >= 0x20;
  fail(position_, length, what + (shows ? ", got `" + got + "`" : ""), hint);
}

}  // namespace strata::internal
