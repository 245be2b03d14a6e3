// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/reading.h"

#include <fmt/format.h>

namespace strata::checkpoint::internal {

void Reading::fail(std::size_t value, std::string_view what) const {
  source.fail(message.offset(value), what, Path(keys));
}

void Reading::require(std::size_t value, Message::Type type, std::string_view what) const {
  if (message.type(value) == type) return;
  fail(value, fmt::format("{} must be {}, not {}.", what, describe(type), describe(message.type(value))));
}

void Reading::take_memory(std::size_t value, std::size_t bytes) {
  if (bytes > memory_left) {
    fail(value, "the variables up to here, with their paths, take many times the memory of the bytes they come from.");
  }
  memory_left -= bytes;
}

}  // namespace strata::checkpoint::internal
