// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "strata/checkpoint/internal/message.h"
#include "strata/checkpoint/internal/source.h"
#include "strata/state/path.h"

namespace strata::checkpoint::internal {

// A message on its way to a state: where the reader stands, and what memory it may still take.
struct Reading {
  const Message& message;
  const Source& source;
  std::vector<Key> keys;  // from the root to the value at hand
  std::size_t memory_left;

  // Throws FormatError that names the value's byte and the path.
  [[noreturn]] void fail(std::size_t value, std::string_view what) const;

  // Throws FormatError unless the value is of the type; `what` names it.
  void require(std::size_t value, Message::Type type, std::string_view what) const;

  // Counts memory before it is taken. Throws FormatError if that is more than is left.
  void take_memory(std::size_t value, std::size_t bytes);
};

}  // namespace strata::checkpoint::internal
