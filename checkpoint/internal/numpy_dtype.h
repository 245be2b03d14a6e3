// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "strata/tensor/dtype.h"

namespace strata::checkpoint::internal {

// An element type as it lies in a file.
struct NumpyDType {
  DType dtype;
  bool swapped;  // the bytes of an element are in the order that is not this machine's

  bool operator==(const NumpyDType&) const = default;
};

// The Python literal that Dopamine writes for arrays of this type: '<f4', quotes included. For bfloat16 it is the field
// list [('', '<V2')] of the type that the Python package ml_dtypes adds to NumPy; no other type is written so, since
// raw bytes of NumPy's own are '|V2'.
[[nodiscard]] std::string numpy_text(DType dtype);

// Reads such a literal: in either quotes, with blanks around it, of either byte order (`=` and `|` are this machine's).
// Empty for what is none or names a type that tensors do not hold.
[[nodiscard]] std::optional<NumpyDType> parse_numpy_text(std::string_view text);

}  // namespace strata::checkpoint::internal
