// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "strata/filters/tensor_filters.h"

// The words of the text form, for those who write it and those who read it.
namespace strata::internal {

inline constexpr std::array<std::string_view, 3> constants{"rest", "everything", "nothing"};
inline constexpr std::array<std::string_view, 11> functions{"any",     "all",  "kind",  "tag",   "path", "path_like",
                                                            "path_in", "glob", "regex", "dtype", "shape"};
inline constexpr std::string_view predicate_word = "predicate";

inline constexpr std::array<std::pair<std::string_view, Measure>, 2> measures{
    {{"size", Measure::size}, {"rank", Measure::rank}}};

// Those of two characters first: `<` begins `<=`.
inline constexpr std::array<std::pair<std::string_view, Comparison>, 6> comparisons{{{"==", Comparison::equal},
                                                                                     {"!=", Comparison::not_equal},
                                                                                     {"<=", Comparison::less_equal},
                                                                                     {">=", Comparison::greater_equal},
                                                                                     {"<", Comparison::less},
                                                                                     {">", Comparison::greater}}};

// ASCII only, whatever the locale.
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool begins_word(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool continues_word(char c) { return begins_word(c) || is_digit(c); }

// The word at the start of the text, with `::` between its parts (`robot::Adapter`); empty if there is none.
std::string_view leading_word(std::string_view text);

// True for a word that means something else than a kind.
bool is_reserved(std::string_view word);

}  // namespace strata::internal
