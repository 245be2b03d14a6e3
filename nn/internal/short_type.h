// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace strata::nn::internal {

// The name of a type without namespaces of std and of Strata, which tell a reader nothing here.
[[nodiscard]] std::string short_type(std::string_view type);

}  // namespace strata::nn::internal
