// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <strata/tensor/error.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace strata::apps {

void print(std::string_view text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (is_written) return;
  if (errno == EPIPE) throw OutputClosed();
  throw IoError("[strata] cannot write the output: " + std::generic_category().message(errno) + ".");
}

}  // namespace strata::apps
