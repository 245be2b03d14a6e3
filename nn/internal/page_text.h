// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace strata::nn::internal {

// The page of html.h, with `@title@` and `@data@` where these belong. Made of the files in nn/page.
extern const std::string_view page_text;

}  // namespace strata::nn::internal
