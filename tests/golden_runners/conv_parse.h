// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "strata/tensor/convolution.h"
#include "support/json.h"

// How Flax writes windows of convolutions.
namespace strata::golden {

// A number for all axes, or one for each.
inline std::vector<Index> parse_per_axis(const support::Json& json) {
  if (json.is_number()) return {json.get<Index>()};
  return json.get<std::vector<Index>>();
}

// A mode, a number, or for each axis a number or a pair of them.
inline ConvPadding parse_padding(const support::Json& json) {
  static const std::map<std::string, PaddingMode> modes{
      {"SAME", PaddingMode::same},     {"SAME_LOWER", PaddingMode::same_lower}, {"VALID", PaddingMode::valid},
      {"CAUSAL", PaddingMode::causal}, {"CIRCULAR", PaddingMode::circular},     {"REFLECT", PaddingMode::reflect}};
  if (json.is_string()) return modes.at(json.get<std::string>());
  if (json.is_number()) return json.get<Index>();
  std::vector<PadWidth> widths;
  for (const support::Json& width : json) {
    const bool is_pair = width.is_array();
    widths.push_back({(is_pair ? width.at(0) : width).get<Index>(), (is_pair ? width.at(1) : width).get<Index>()});
  }
  return widths;
}

}  // namespace strata::golden
