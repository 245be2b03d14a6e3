// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/vocabulary.h"

#include <algorithm>

namespace strata::internal {

std::string_view leading_word(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && begins_word(text[end])) {
    while (end < text.size() && continues_word(text[end])) ++end;
    const bool goes_on = end + 2 < text.size() && text.substr(end, 2) == "::" && begins_word(text[end + 2]);
    if (!goes_on) break;
    end += 2;
  }
  return text.substr(0, end);
}

bool is_reserved(std::string_view word) {
  const auto has = [word](const auto& words) { return std::find(words.begin(), words.end(), word) != words.end(); };
  return word == predicate_word || has(constants) || has(functions) ||
         std::any_of(measures.begin(), measures.end(), [word](const auto& named) { return named.first == word; });
}

}  // namespace strata::internal
