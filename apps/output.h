// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace strata::apps {

// Thrown when nobody reads the output any more: the command has done what was wanted.
struct OutputClosed {};

// Writes to the standard output. Throws OutputClosed, or IoError if the text cannot be written for another reason.
void print(std::string_view text);

}  // namespace strata::apps
