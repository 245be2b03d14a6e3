// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// The keys of the maps that stand for arrays and long integers. The first three make an array, whatever else is there:
// Dopamine ignores other keys, and so there is room for what it does not know.
namespace strata::checkpoint::internal {

inline constexpr std::string_view shape_name = "shape";
inline constexpr std::string_view data_name = "data";
inline constexpr std::string_view dtype_name = "dtype";
inline constexpr std::string_view order_name = "order";
inline constexpr std::string_view kind_name = "strata.kind";          // text
inline constexpr std::string_view metadata_name = "strata.metadata";  // list of [name, value]
inline constexpr std::string_view integer_name = "integer";

}  // namespace strata::checkpoint::internal
