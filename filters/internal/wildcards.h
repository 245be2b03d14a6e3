// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace strata::internal {

// True if the pattern fits the whole sequence. Both are given by their lengths; is_star(p) says that pattern item p
// stands for any number of items, fits(p, i) that it fits item i.
//
// Takes the shortest run for each star and comes back to the latest one only, which is enough: time is at most the
// product of the lengths.
template <class IsStar, class Fits>
bool match_wildcards(std::size_t pattern_length, std::size_t length, IsStar is_star, Fits fits) {
  std::size_t p = 0;
  std::size_t i = 0;
  std::size_t after_star = 0;  // 0: no star yet
  std::size_t star_end = 0;    // where the latest star's run ends
  while (i < length) {
    if (p < pattern_length && is_star(p)) {
      after_star = ++p;
      star_end = i;
    } else if (p < pattern_length && fits(p, i)) {
      ++p;
      ++i;
    } else if (after_star != 0) {
      p = after_star;
      i = ++star_end;
    } else {
      return false;
    }
  }
  while (p < pattern_length && is_star(p)) ++p;
  return p == pattern_length;
}

}  // namespace strata::internal
