// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/nearest.h"

#include <algorithm>
#include <numeric>

#include "strata/state/internal/quote.h"

namespace strata::internal {
namespace {

// Longer ones are no misspelt names, and the distance takes the product of the lengths.
constexpr std::size_t max_length = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Letters to insert, remove, replace or swap with their neighbour, whatever their case (Damerau and Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      current[j] = std::min({replaced, last[j] + 1, current[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  std::vector<std::pair<std::size_t, std::string_view>> near;
  if (word.size() > max_length) return {};
  for (const std::string& name : names) {
    if (name.size() > max_length) continue;
    const std::size_t letters = distance(word, name);
    if (letters <= std::max<std::size_t>(1, std::max(word.size(), name.size()) / 3)) near.emplace_back(letters, name);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  if (near.size() > 3) near.resize(3);
  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i) {
    text += i == 0 ? "Did you mean `" : i + 1 == near.size() ? " or `" : ", `";
    text += escape(near[i].second) + "`";
  }
  return text.empty() ? text : text + "? ";
}

}  // namespace strata::internal
