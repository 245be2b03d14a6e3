// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "strata/filters/filter.h"

namespace strata {

// Variables whose whole path fits the pattern, key by key: path_glob("encoder/**/kernel").
//
//   *       any run of characters within one key, the empty one too
//   ?       one character
//   [a-z_]  one of these characters; [!a-z_] any other; [*] a star, [/] a slash within a key
//   **      as a whole key: any number of keys, none too
//
// Integers are read as their digits. The empty pattern fits the root. Throws FilterError if `**` stands beside other
// characters, a class is not closed, or a range is the wrong way round.
[[nodiscard]] Filter path_glob(std::string pattern);

// Variables in whose printed path the regular expression is found: path_regex("block_[0-9]+/kernel$").
//
// The syntax is RE2's, which has no back references and looks in linear time. Throws FilterError if it cannot read the
// pattern or the pattern needs more than a megabyte.
[[nodiscard]] Filter path_regex(std::string pattern);

}  // namespace strata
