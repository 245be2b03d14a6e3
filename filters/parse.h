// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "strata/filters/filter.h"
#include "strata/tensor/error.h"

namespace strata {

// A text that is no filter. what() shows the text with a caret under the mistake and says what was expected there.
class FilterTextError : public FilterError {
 public:
  FilterTextError(const std::string& message, std::size_t column) : FilterError(message), column_(column) {}

  // Where the mistake is: the number of the character, from 1.
  [[nodiscard]] std::size_t column() const noexcept { return column_; }

 private:
  std::size_t column_;
};

// Reads the text form of a filter, which to_string writes: parse_filter(to_string(f)) == f for every filter without
// predicates whose kinds are known by name (kind_registry.h) and whose text is printed in full.
//
//   Param  robot::Adapter  kind('odd name')      variables of the kind and of those that specialise it
//   tag('lora')                                  the tag
//   path('encoder')  path(3)                     a key of the path
//   path_like('enc')                             a part of a key
//   path_in('a/b', 'c')                          whole paths
//   glob('encoder/**/kernel')  regex('_[0-9]+$') patterns of whole paths (path_patterns.h)
//   dtype(float32, bfloat16)                     element types
//   shape(*, 64)  shape(**, 3, 3)                sizes: * any size, ** any number of axes
//   size >= 1000  rank == 2                      elements and axes: == != < <= > >=
//   everything  nothing  rest
//   any(f, g, h)  all(f, g, h)  f | g  f & g  !f  (f)
//
// `!` binds most tightly, then `&`, then `|`; `f & g & h` is all(all(f, g), h). Texts stand in single or double quotes;
// within them \' \" \\ \n \t \r and \x1f are one character, another backslash is itself. Throws FilterTextError, also
// for more than 1000 levels.
[[nodiscard]] Filter parse_filter(std::string_view text);

}  // namespace strata
