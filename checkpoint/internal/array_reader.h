// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "strata/checkpoint/dopamine.h"
#include "strata/checkpoint/internal/reading.h"
#include "strata/state/variable.h"

namespace strata::checkpoint::internal {

// The values under the names that an array's map may have; empty for those it has not.
struct ArrayFields {
  std::optional<std::size_t> shape, data, dtype, order, kind, metadata;

  // Takes note of the value if the name is one of these.
  void set(std::string_view name, std::size_t value);

  // True if they make an array, as Dopamine decides it.
  [[nodiscard]] bool complete() const { return shape && data && dtype; }
};

// The variable that complete fields describe. Throws FormatError.
[[nodiscard]] Variable read_array(Reading& reading, const ArrayFields& fields, DopamineOptions options);

}  // namespace strata::checkpoint::internal
