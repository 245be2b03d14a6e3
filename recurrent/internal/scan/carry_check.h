// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "strata/tensor/tensor.h"

namespace strata::recurrent::internal {

// What for_each_tensor calls to check a carry against one as it must be. Errors name the operation, what the carry is
// to it, and the part: "[scan] part `h` of the initial carry is ...".
struct CarryCheck {
  std::string_view operation;
  std::string_view carry;

  // Throws ShapeError or DTypeError unless both agree in shape and element type.
  void operator()(const std::string& part, const Tensor& got, const Tensor& expected) const;

  // Throws ShapeError unless both numbers of entries are equal.
  void check_num_entries(const std::string& part, std::size_t got, std::size_t expected) const;
};

}  // namespace strata::recurrent::internal
