// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "strata/tensor/shape.h"

namespace strata::internal {

// Reads the small parts of the text form, blanks before them included: signs, integers, quoted texts.
// Positions are bytes. Failures are FilterTextError.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t position() const noexcept { return position_; }
  [[nodiscard]] std::string_view left() const noexcept { return text_.substr(position_); }
  void advance(std::size_t bytes) noexcept { position_ += bytes; }
  void skip_blanks() noexcept;

  [[nodiscard]] bool at_end() noexcept;
  bool accept(char sign) noexcept;  // true if it was there and is read now
  Index integer();
  std::string read_text();

  // Where the byte `offset` of a quoted text that begins at `place` is written.
  [[nodiscard]] std::size_t byte_of_text(std::size_t place, std::size_t offset) const noexcept;

  [[noreturn]] void fail(std::size_t place, std::size_t length, const std::string& what, const std::string& hint) const;

  // `what` is wrong with what stands at the position: "expected `)`".
  [[noreturn]] void fail_here(const std::string& what);

 private:
  // The character at the position, which may be written as several; moves on.
  char read_character() noexcept;

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace strata::internal
