// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "strata/state/path.h"

namespace strata::checkpoint::internal {

// Text from a file as it stands in an error: the first bytes of a long one.
[[nodiscard]] std::string shortened(std::string_view text);

// What bytes are read for and where they come from: what errors in them name first.
struct Source {
  std::string operation;
  std::string file = {};  // empty for bytes in memory

  // Throws FormatError: "[restore] run/a.msgpack, byte 27, encoder/0/kernel: expected ...". The root of a tree is not
  // named.
  [[noreturn]] void fail(std::uint64_t offset, std::string_view what, const Path& path = {}) const;
};

}  // namespace strata::checkpoint::internal
