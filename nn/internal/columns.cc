// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/columns.h"

#include <algorithm>
#include <utility>

#include "strata/state/internal/utf8.h"

namespace strata::nn::internal {
namespace {

std::size_t width(const std::string& cell) { return strata::internal::to_characters(cell).size(); }

// Where the character `count` begins, or the end.
std::size_t byte_of(std::string_view text, std::size_t count) {
  std::size_t position = 0;
  while (count-- > 0 && position < text.size()) strata::internal::next_character(text, position);
  return position;
}

}  // namespace

std::string shortened(const std::string& text) {
  constexpr std::size_t most = 200;
  const std::size_t characters = width(text);
  if (characters <= most) return text;
  return text.substr(0, byte_of(text, most / 2)) + "..." + text.substr(byte_of(text, characters - most / 2 + 3));
}

std::string short_text(const Path& path) {
  constexpr int most = 32;
  if (path.depth() <= most) return shortened(to_string(path));
  std::string text;
  for (int i = path.depth() - most; i < path.depth(); ++i) text += "/" + shortened(to_string(path[i]));
  return "..." + text;
}

void Columns::add(std::vector<std::string> cells) {
  constexpr std::size_t widest = 80;
  for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], std::min(widest, width(cells[i])));
  lines_.push_back(std::move(cells));
}

std::string Columns::text() const {
  std::string result;
  for (const std::vector<std::string>& cells : lines_) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string blanks(widths_[i] - std::min(widths_[i], width(cells[i])), ' ');
      if (i > 0) line += "  ";
      line += alignment_[i] == Align::left ? cells[i] + blanks : blanks + cells[i];
    }
    result += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return result;
}

}  // namespace strata::nn::internal
