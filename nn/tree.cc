// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "strata/nn/internal/columns.h"
#include "strata/nn/internal/outline.h"

namespace strata::nn {
namespace internal {
namespace {

constexpr std::size_t deepest_stroke = 32;

// The strokes before each row. Seen from the last row up, a level is open while a later row of that depth is to come.
std::vector<std::string> strokes(const std::vector<OutlineRow>& rows) {
  std::vector<std::string> result(rows.size());
  std::vector<bool> open;
  for (std::size_t i = rows.size(); i-- > 0;) {
    const std::size_t depth = rows[i].depth;
    open.resize(depth + 1, false);
    for (std::size_t level = 1; level < std::min(depth, deepest_stroke); ++level) {
      result[i] += open[level] ? "│  " : "   ";
    }
    if (depth > 0) result[i] += open[depth] ? "├─ " : "└─ ";
    if (depth > deepest_stroke) result[i] += "(" + std::to_string(depth) + ") ";
    open[depth] = true;
  }
  return result;
}

std::string text(const std::vector<OutlineRow>& rows) {
  const std::vector<std::string> before = strokes(rows);
  Columns columns({Align::left, Align::left, Align::right});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    columns.add({before[i] + (rows[i].key ? shortened(to_string(*rows[i].key)) : ""), describe(rows[i]),
                 fmt::format("{:>9}", rows[i].elements)});
  }
  return columns.text();
}

}  // namespace

std::string tree_text(strata::internal::Node root) { return text(outline(root)); }

}  // namespace internal

std::string tree(const State& state) { return internal::text(internal::outline(state)); }

}  // namespace strata::nn
