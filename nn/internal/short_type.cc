// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/short_type.h"

#include <cctype>

namespace strata::nn::internal {
namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }

}  // namespace

std::string short_type(std::string_view type) {
  std::string text(type);
  for (const std::string_view prefix : {"std::__cxx11::", "std::", "strata::recurrent::internal::",
                                        "strata::recurrent::", "strata::nn::", "strata::"}) {
    std::size_t at = text.find(prefix);
    while (at != std::string::npos) {
      const bool begins_a_name = at == 0 || !is_name_character(text[at - 1]);
      if (begins_a_name) text.erase(at, prefix.size());
      at = text.find(prefix, begins_a_name ? at : at + prefix.size());
    }
  }
  return text;
}

}  // namespace strata::nn::internal
