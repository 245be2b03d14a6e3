// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/short_type.h"

namespace strata::nn::internal {

std::string short_type(std::string_view type) {
  std::string text(type);
  for (const std::string_view prefix : {"std::__cxx11::", "std::", "strata::recurrent::", "strata::nn::", "strata::"}) {
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
      text.erase(at, prefix.size());
    }
  }
  return text;
}

}  // namespace strata::nn::internal
