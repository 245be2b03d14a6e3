// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "strata/state/path.h"

namespace strata::nn::internal {

// A text of more than 200 characters without its middle.
[[nodiscard]] std::string shortened(const std::string& text);

// A path as text; of one of more than 32 keys, the last ones.
[[nodiscard]] std::string short_text(const Path& path);

enum class Align { left, right };

// Lines of cells that stand below each other. Cells are printable texts; a column is at most 80 characters wide, and
// longer cells push the rest of their line to the right.
class Columns {
 public:
  explicit Columns(std::vector<Align> alignment) : alignment_(std::move(alignment)), widths_(alignment_.size()) {}

  void add(std::vector<std::string> cells);

  // Without blanks at the ends of lines.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Align> alignment_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace strata::nn::internal
